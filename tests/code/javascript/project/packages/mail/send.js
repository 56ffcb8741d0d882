exports.send = function (to, text) {
  return exports.queue(to, text);
};

exports.queue = (to, text) => [to, text];
