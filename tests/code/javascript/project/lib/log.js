module.exports = log;
module.exports.warn = warn;

function log(text) {
  console.log(text);
}

function warn(text) {
  log(`! ${text}`);
}
