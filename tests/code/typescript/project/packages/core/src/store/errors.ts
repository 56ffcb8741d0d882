export class Missing extends Error {
  static of(name: string): Missing {
    return new Missing(name);
  }
}
