export * from './later.mjs';
import { nothing } from './later.mjs';

nothing();
