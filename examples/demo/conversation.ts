/**
 * Two weeks of planning a ferry company's new booking service, as one long conversation. Made up, but with what real ones
 * have: detours, decisions that are taken back, numbers, file names, and a password that should not have been pasted.
 */
const SCRIPT = `
user: Hi! We run the booking site of a small ferry line, six boats and eleven harbours. The site is falling over every Friday afternoon and I'd like to plan its replacement with you. Our goal is a booking service that survives the summer timetable without anybody watching it at night.
assistant: Happy to help. Before we talk about technology: what exactly falls over on Fridays? Is it the search, the payment, or the seat inventory?
user: The inventory. Two people buy the last car space within the same second, both get a confirmation, and the harbour crew finds out when the second car arrives. Last Friday we had nine double bookings.
assistant: Then correctness of the car deck comes before speed. A confirmation must never be sent for a space that is not reserved. Everything else can be a little late.
user: Agreed. And to be fair the search is slow too. People wait seven or eight seconds for the list of departures.
assistant: What does the current system look like?
user: A PHP monolith from 2011 on one rented server, MySQL 5.7, a cron job that recounts the deck every five minutes. The code is at https://git.northferry.example/booking/legacy and nobody likes to touch it.
assistant: The five minutes are the bug. Between two recounts the number of free spaces is a guess.
user: That's what our harbour master says as well, with other words.
assistant: How many bookings do you have at the worst moment?
user: About forty a minute on a Friday in July. Not a huge number. In winter it is four an hour.
assistant: Forty a minute fits on one database without any trick. That is good news: we can use one transactional database and plain row locks instead of something distributed.
user: I was afraid you'd suggest something with many boxes and arrows.
assistant: Let's keep the boxes few. One service, one database, one queue for mails.
user: Which database? Half of the team knows MySQL, the other half has used Postgres at other jobs.
assistant: Either works. Postgres gives you exclusion constraints, so the database itself can refuse overlapping reservations of the same deck space.
user: Okay, so we decided to use Postgres for the new booking service because its constraints make a double booking impossible, even if our code is wrong.
assistant: Noted. I would put the reservation rule into the schema from the first day and write a test that tries to break it from fifty connections at once.
user: Good. Where should it run? Our hoster offers managed Postgres in two regions.
assistant: Pick the region next to your payment provider; the payment call is the only slow one. You also need backups that somebody has restored at least once.
user: The payment provider is in Frankfurt. Let's go with the Frankfurt region then.
assistant: Fine. What about the harbours? Do the crews need the list of cars offline?
user: Yes! The terminals on the piers lose the network whenever there is a storm, and that is exactly when people rebook. The terminals must work without a network for at least six hours.
assistant: Then each terminal needs a copy of the next day's departures, and rebookings made offline must be merged when the network is back. That is the hardest part of the whole project.
user: How would you merge?
assistant: Terminals should not sell spaces they do not own. Give every terminal a small quota per departure; offline it may only sell from its quota.
user: How large would a quota be?
assistant: On a typical boat two cars per terminal. It costs you a little revenue on full boats, and it needs no merging at all.
user: I like that. We agreed on quotas of two car spaces per terminal for offline sales, since merging sold spaces after a storm would be a nightmare.
assistant: By a quota I mean: the number of spaces of one departure that one terminal may sell without asking the server.
user: Lunch break. Our cook made fish soup again.
assistant: Enjoy it. When you are back, let's talk about payments.
user: Back. Payments: we use the provider's hosted page today. Do we need to change it?
assistant: No. Keep the hosted page, so that card numbers never touch your servers. What has to change is the order: reserve first, for ten minutes, then pay, then confirm.
user: Ten minutes is short for our older customers. Some call their children to ask for the card.
assistant: Then make it twenty. An expired reservation just returns to the pool.
user: Let's make it twenty minutes. A reservation must be held for twenty minutes while the customer pays.
assistant: And after twenty minutes? Should the customer be told, or does the page simply fail?
user: Told, with a button to try again. The page must never lose the names and number plates people have typed.
assistant: Good requirement. Store the form in the reservation itself.
user: What do we do about the eleven harbours having different check-in times? Some close 20 minutes before departure, the island ones 10.
assistant: Put it into the timetable as data, one value per harbour. The file we discussed could be config/harbours.yaml.
user: We already have something like it, data/timetable/2026-summer.csv, with a column for closing times. It is maintained by hand by Ingrid.
assistant: Then import that file every night and fail loudly if a harbour is missing.
user: Fail loudly to whom? Nobody reads mails at night.
assistant: To the duty phone, but only if the import failed twice. A single failure can wait for the morning.
user: Fine. The nightly import must not page anyone unless it fails twice in a row.
assistant: Next: search. Seven seconds is mostly the N+1 query in the old code. With 11 harbours and 400 departures a day you can keep the whole timetable in memory.
user: So no search engine?
assistant: No search engine. A list of 400 departures per day for 60 days fits in a few megabytes.
user: We decided not to introduce a search engine, because the whole timetable fits in memory.
assistant: Target: departures listed in under 300 ms at the 95th percentile, measured from a phone on the pier.
user: That would be a dream. Write it down as a requirement: the departure list should appear within 300 ms on a phone.
assistant: Written down. Which languages does the site need?
user: German, Danish, English. Swedish would be nice to have but not now.
assistant: Then keep texts out of the code from the first page on.
user: For debugging you can look at the old admin, the password is harbour-seal-1987.
assistant: Please don't send passwords here; change that one today. I don't need it.
user: Oops. Changed. Can you forget that message?
assistant: You can exclude it from the conversation's summary, so that it is not carried along.
user: Next topic, mails. Today confirmations go out through the hoster's SMTP and a third of them land in spam.
assistant: Use a mail service with a proper domain setup. And send the ticket as a PDF as well as a link, people print them.
user: Our goal for mails is that every confirmation arrives within one minute.
assistant: That wants a queue with retries and an alarm on the age of its oldest entry, not on the number of failures.
user: Which queue? Redis?
assistant: You could use a table in Postgres with SKIP LOCKED. At forty mails a minute you won't notice, and it is one box less.
user: We'll go with a Postgres table as the mail queue, so that a booking and its mail are written in one transaction.
assistant: Exactly, then a booking without a mail cannot exist.
user: Now the migration. We can't stop selling for a day.
assistant: Sell the first departures of the new timetable in the new system only, from the day the summer timetable opens. The old system sells out the spring and is then switched off. No data has to move.
user: That is so much simpler than what our agency proposed. They wanted to synchronise both databases for three months.
assistant: Two writers for one deck is how double bookings were born.
user: Decision: the summer timetable is sold in the new system only, and the old system sells the spring until it is switched off on May 31st.
assistant: Then the plan has a date. When does the summer timetable open for booking?
user: On March 1st. So we need something that can sell by then.
assistant: Next step: a walking skeleton by December 15th that reserves one car on one departure, with the constraint in place and the fifty-connection test.
user: Who writes the terminal software? We have one person, Tarek, and he is on leave until January.
assistant: Then the first step in January is the terminal quota with Tarek. Until then the terminals stay read-only.
user: Should the terminals print tickets themselves?
assistant: Is there a printer on every pier?
user: On eight of eleven. For the other three we don't know yet. Does anybody know whether the island harbours get printers before the summer?
assistant: Let's keep it as an open question. A ticket code that can be read aloud works everywhere.
user: I prefer short codes without letters that sound alike, the crew reads them over the radio.
assistant: Six characters from an alphabet without B, D, E, G and P, then. By a ticket code I mean the six characters a passenger can say aloud at the pier.
user: Nice. What about refunds?
assistant: How do they work today?
user: By hand. People call, and the office fills in a form. In a storm that is three hundred calls.
assistant: When a departure is cancelled, every ticket of it could be refunded with one action, with the reason attached.
user: Yes please. Cancelling a departure must refund all its tickets in one step, with a mail to each passenger.
assistant: Does the payment provider allow partial refunds? If somebody rebooked with a surcharge, that matters.
user: I don't know. Is there a limit on how late we can refund?
assistant: Their documentation is at https://docs.payments.example/refunds; the limit I remember is 180 days, but check it.
user: Will do. About privacy: how long may we keep number plates?
assistant: As long as you need them for the crossing and for disputes, and no longer. What do you want?
user: Our lawyer said ninety days. Number plates have to be deleted ninety days after the crossing.
assistant: Then a nightly job deletes them, and its report goes next to the import's.
user: One more about hosting. The managed database costs 240 euros a month in Frankfurt, the two-node one costs 480. Do we need two nodes?
assistant: What does an hour without sales cost you on a July Friday?
user: About 2,400 bookings at 60 euros on average. People would come back later though.
assistant: Then the second node pays for itself with the first saved hour.
user: Okay, two nodes. Actually, let's not use the Frankfurt region after all: the two-node offer is only available in Amsterdam, so we decided to host the database in Amsterdam instead of Frankfurt.
assistant: Fine, the payment call gets seven milliseconds longer; nobody will notice.
user: Who watches it at night?
assistant: Nobody, that was the goal. Alarms only for what a person can mend at night: no bookings for thirty minutes in July, mail queue older than ten minutes, import failed twice.
user: I prefer short answers with numbers, by the way, our harbour master reads along on a phone.
assistant: Understood.
user: Can you list what must be ready for the walking skeleton?
assistant: Three things. The schema with the exclusion constraint in db/schema.sql, the endpoint POST /reservations, and the test in test/fifty-connections.test.ts.
user: And the first thing I do tomorrow?
assistant: Run \`createdb northferry\`, apply db/schema.sql, and let the fifty-connection test fail once before you add the constraint.
user: One last thing: do we tell customers about the new system in advance?
assistant: Only what changes for them: the twenty minutes, the ticket code, and the quota of the piers.
user: Then I'll ask Ingrid to write a page about it. Thanks, this was a good session.
assistant: Good luck with the skeleton. Let's look at the failing test together tomorrow.
`;

export const conversation = SCRIPT.trim()
  .split('\n')
  .map((line) => {
    const [role, content] = line.startsWith('user: ')
      ? (['user', line.slice(6)] as const)
      : (['assistant', line.slice(11)] as const);
    return { role, content };
  });

/** The message with the password, and the one with the most important decision. */
export const SECRET = 'harbour-seal-1987';
export const DECISION = 'we decided to use Postgres';
/** Words of what a strong compaction may lose, and how one would ask about it. */
export const LOSSES: readonly (readonly [string, string])[] = [
  ['should not sell spaces', 'May terminals sell spaces they do not own?'],
  ['as the mail queue', 'What do we use as the mail queue?'],
  ['somebody has restored', 'Which backups do we need?'],
  ['may only sell from its quota', 'What may a terminal sell offline?'],
  ['held for twenty minutes', 'How long is a reservation held?'],
  ['the number of spaces of one departure', 'What does quota mean?'],
  ['No data has to move', 'Does any data have to move to the new system?'],
];
