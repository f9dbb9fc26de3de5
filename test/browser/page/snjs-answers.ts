/** Types of the library that several of its services share. */

export interface Displayable {
  text: string;
}

/** What the library's use cases answer. */
export interface Result<T> {
  isFailed(): boolean;
  getError(): string;
  getValue(): T;
}

export interface Item {
  uuid: string;
}
