/** What Google Fonts answers to an app of create-next-app, where it cannot be reached: no fonts. */
module.exports = {
  'https://fonts.googleapis.com/css2?family=Geist:wght@100..900&display=swap': ' ',
  'https://fonts.googleapis.com/css2?family=Geist+Mono:wght@100..900&display=swap': ' ',
};
