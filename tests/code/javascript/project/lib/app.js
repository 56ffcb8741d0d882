'use strict';

const { Router, mount: attach } = require('./router');
const log = require('./log');
const fs = require('fs');
const mail = require('kiosk-mail');

const app = (exports = module.exports = {});

/**
 * Starts it.
 */
app.start = function start(port) {
  this.router = new Router();
  this.configure();
  attach(this.router, port);
  return this;
};

app.configure = function () {
  const routes = require('./routes');
  routes.list(this);
  log('configured');
  log.warn('slow');
  fs.readFileSync('x');
  mail.send('a', 'b');
};
