module.exports.extra = function () {};
