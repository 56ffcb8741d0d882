import { Store } from "@harbour/core";

export const store = new Store();

export default {
  refresh() {
    store.find("all");
  },
  limit: 3,
};
