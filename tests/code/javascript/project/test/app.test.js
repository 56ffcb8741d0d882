const assert = require('assert');
const app = require('..');

describe('app', function () {
  describe('start', () => {
    it('listens', () => {
      assert.ok(app.start(1));
    });
  });
});

test(`configures`, () => app.configure());
