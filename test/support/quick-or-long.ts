/**
 * How much of something a test takes: little in the quick tests, and more when `make test-long` runs the file
 * again, as it does with each file that imports this one.
 */
export const quickOrLong = <T>(quick: T, long: T): T => (process.env.LONG_TESTS === '1' ? long : quick);
