const log = require('./log');

function Router() {
  this.table = new Table();
}

Router.prototype.add = function add(path, handler) {
  this.table.put(path, handler);
  return this.check(path);
};

Router.prototype.check = function (path) {
  const self = this;
  [path].forEach(function (each) {
    self.add(each);
    this.add(each);
  });
  return this;
};

Router.empty = () => new Router();

class Table {
  #rows = {};

  put(path, handler) {
    this.#rows[path] = handler;
    this.#touch();
  }

  #touch() {
    log(Table.count++);
  }

  static count = 0;
}

function mount(router, port) {
  router.add('/');
  const add = (first, second) => first + second;
  return add(port, 1);
}

module.exports = {
  Router,
  mount,
  describe() {
    return Router.empty().add('/').check('/');
  },
  close: function () {
    return mount(null, 0);
  },
  ...require('./routes/extra'),
};
