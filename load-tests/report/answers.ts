/** Wrong answers, each a value of a tag. k6 keeps counts only of those that it knows in advance. */

const notAnswered = 'nothing';
const otherwise = 'another status';
export const wrong = 'something wrong';

export const answerNames: readonly string[] = [
  notAnswered,
  ...[400, 401, 403, 404, 409, 413, 421, 429, 500, 502, 503, 504].map(String),
  otherwise,
  wrong,
];

/** The name of an answer with this status; 0 means that none came. */
export function answerName(status: number): string {
  const name = status === 0 ? notAnswered : String(status);
  return answerNames.includes(name) ? name : otherwise;
}
