import { nfkc } from '../../base/unicode.js';
import { timeOf } from '../messages.js';
import type { ConversationMessage } from '../model.js';

/** Characters of the date in ISO 8601. */
export const DATE = 10;
const A_DAY = /^\d{4}-\d\d-\d\d$/;
/** At the end of a time: -07:00, -0700, -07. */
const OFFSET = /(?::\d\d[\d., ]*|GMT)([+-])(\d\d)(?::?(\d\d))?$/;
const FORMATS = new Map<string, Intl.DateTimeFormat>();
/** Formats that are kept. A zone may come from a user, who can write it in many ways. */
const MOST_FORMATS = 100;
/** The most terms of dates in one query, which has few, unless it is a pasted table. */
const MOST_TERMS = 16;
/** How much a day counts in comparison with a word, and a month, a weekday or a year. */
const DAY = 1.5;
const PERIOD = 0.7;
const BEFORE_MONTH = /^(?:in|im|en|of|since|during|last|this|seit|de|du)$/;
const ISO_DATE = /(?<!\d)\d{4}-(\d\d)-(\d\d)(?!\d)/g;
const EAST_ASIAN_DATE = /(\d{1,2}|[一二三四五六七八九十]{1,2})月(?:(\d{1,2}|[一二三四五六七八九十]{1,3})[日号])?/g;
const EAST_ASIAN_WEEKDAY = /(?<=星期|周|礼拜)[一二三四五六日天]|[日月火水木金土](?=曜)/g;
/** The signs of the weekdays, from Sunday: those of Chinese, then another for its Sunday and those of Japanese. */
const SIGNS = '日一二三四五六天月火水木金土';
const YESTERDAY = /\byesterday\b|\bgestern\b|\bayer\b|昨天|昨日/;

/** The terms by which a message is found by its date. */
export function dateTerms(time: string): string[] {
  const date = dayOf(time);
  const month = date.getUTCMonth() + 1;
  return [
    dayTerm(month, date.getUTCDate()),
    `month${month}`,
    `weekday${date.getUTCDay()}`,
    `year${date.getUTCFullYear()}`,
  ];
}

function dayTerm(month: number, day: number): string {
  return `month${month}day${day}`;
}

/** The terms of the days that begin or end what a term names, in another time zone: those beside a day, a month or a weekday. */
export function daysBeside(term: string): string[] {
  const weekday = /^weekday(\d)$/.exec(term)?.[1];
  if (weekday !== undefined) return [6, 8].map((offset) => `weekday${(Number(weekday) + offset) % 7}`);
  const [, month, day] = /^month(\d+)(?:day(\d+))?$/.exec(term) ?? [];
  if (month === undefined) return [];
  const termOf = (at: number, of: number): string => dateTerms(new Date(Date.UTC(2024, at, of)).toISOString())[0] ?? '';
  const at = Number(month) - 1;
  return day === undefined
    ? [termOf(at, 0), termOf(at + 1, 1)]
    : [termOf(at, Number(day) - 1), termOf(at, Number(day) + 1)];
}

/** The day of a time in ISO 8601, as it is written: with an offset, the day there. */
export function dayOf(time: string): Date {
  return new Date(time.slice(0, DATE));
}

/**
 * When a message was written, as the user's clock showed it: ISO 8601 with the offset of `timeZone`, or else with that of
 * its `createdAt`. A day without a time is that day everywhere.
 */
export function localTimeOf(message: Pick<ConversationMessage, 'createdAt'>, timeZone?: string): string | undefined {
  const time = timeOf(message);
  const { createdAt } = message;
  if (time === undefined || time === createdAt) return time && localTime(time, timeZone);
  if (timeZone !== undefined) return A_DAY.test(String(createdAt)) ? time : localTime(time, timeZone);
  return typeof createdAt === 'string' ? withOffset(time, OFFSET.exec(createdAt)) : time;
}

/** A time in UTC as clocks in a time zone show it. */
export function localTime(time: string, timeZone: string | undefined): string {
  return timeZone === undefined ? time : withOffset(time, OFFSET.exec(formatOf(timeZone).format(new Date(time))));
}

function withOffset(time: string, offset: RegExpExecArray | null): string {
  if (offset === null) return time;
  const [, sign = '+', hours = '00', minutes = '00'] = offset;
  const ahead = (sign === '-' ? -60_000 : 60_000) * (60 * Number(hours) + Number(minutes));
  const local = new Date(new Date(time).getTime() + ahead);
  return Number.isNaN(local.getTime()) ? time : local.toISOString().replace('Z', `${sign}${hours}:${minutes}`);
}

/** Creating one takes longer than an index of a thousand messages. @throws {RangeError} if there is no such zone */
export function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  if (FORMATS.size >= MOST_FORMATS) FORMATS.clear();
  FORMATS.set(timeZone, format);
  return format;
}

/** The terms of the dates that a text names, with their weights. `now` is what "yesterday" and "last Monday" refer to. */
export function datesIn(text: string, now: string): Map<string, number> {
  const terms = new Map<string, number>();
  const addDay = (month: number, day: number): void => {
    if (month >= 1 && month <= 12 && day >= 1 && day <= 31) terms.set(dayTerm(month, day), DAY);
  };
  const normal = nfkc(text).toLowerCase();
  const words = normal.match(/\p{L}+|\d+/gu) ?? [];
  for (const [i, word] of words.entries()) {
    const month = MONTHS.get(word);
    const weekday = WEEKDAYS.get(word);
    if (month !== undefined) {
      const day = [words[i + 1], words[i - 1], words[i - 2], words[i - 3]].find((near) => isDay(near));
      if (day !== undefined) addDay(month, Number(day));
      else if (BEFORE_MONTH.test(words[i - 1] ?? '')) terms.set(`month${month}`, PERIOD);
    }
    if (weekday !== undefined) {
      terms.set(`weekday${weekday}`, PERIOD);
      terms.set(dayBefore(now, (dayOf(now).getUTCDay() - weekday + 7) % 7 || 7), DAY);
    }
    if (/^(?:19|20)\d\d$/.test(word)) terms.set(`year${word}`, PERIOD);
  }
  for (const [, month, day] of normal.matchAll(ISO_DATE)) addDay(Number(month), Number(day));
  for (const [, month = '', day] of normal.matchAll(EAST_ASIAN_DATE)) {
    if (day !== undefined) addDay(numberOf(month), numberOf(day));
    else if (numberOf(month) <= 12) terms.set(`month${numberOf(month)}`, PERIOD);
  }
  for (const [day] of normal.matchAll(EAST_ASIAN_WEEKDAY)) terms.set(`weekday${SIGNS.indexOf(day) % 7}`, PERIOD);
  if (YESTERDAY.test(normal)) terms.set(dayBefore(now, 1), DAY);
  return new Map([...terms].slice(0, MOST_TERMS));
}

function isDay(word: string | undefined): boolean {
  return word !== undefined && /^\d{1,2}$/.test(word) && Number(word) >= 1 && Number(word) <= 31;
}

function dayBefore(now: string, days: number): string {
  return dateTerms(new Date(dayOf(now).getTime() - days * 86_400_000).toISOString())[0] ?? '';
}

/** 四 is 4, 十二 is 12, 二十一 is 21. */
function numberOf(numeral: string): number {
  if (/^\d/.test(numeral)) return Number(numeral);
  const [tens, ones] = numeral.includes('十') ? numeral.split('十') : ['', numeral];
  const digit = (text: string | undefined): number => (text ? '一二三四五六七八九'.indexOf(text) + 1 : 0);
  return (numeral.includes('十') ? 10 * (digit(tens) || 1) : 0) + digit(ones);
}

const MONTHS = /* @__PURE__ */ numbered(1, [
  'january jan januar janvier enero',
  'february feb februar février febrero',
  'march mar märz mars marzo',
  'april apr avril abril',
  'may mai mayo',
  'june jun juni juin junio',
  'july jul juli juillet julio',
  'august aug août agosto',
  'september sep sept septembre septiembre',
  'october oct oktober okt octobre octubre',
  'november nov novembre noviembre',
  'december dec dezember dez décembre diciembre',
]);

const WEEKDAYS = /* @__PURE__ */ numbered(0, [
  'sunday sonntag dimanche domingo',
  'monday montag lundi lunes',
  'tuesday dienstag mardi martes',
  'wednesday mittwoch mercredi miércoles',
  'thursday donnerstag jeudi jueves',
  'friday freitag vendredi viernes',
  'saturday samstag samedi sábado',
]);

function numbered(first: number, names: readonly string[]): Map<string, number> {
  return new Map(names.flatMap((list, i) => list.split(' ').map((name) => [name, first + i] as const)));
}
