const router = require('../router');

exports.list = (app) => {
  router.describe();
  router.close();
  router.extra();
  router.missing();
  return app.start();
};
