/** Types of the library that several of its services share. */

export interface Displayable {
  text: string;
}

/** The answers of the library's use cases. */
export interface Result<T> {
  isFailed(): boolean;
  getError(): string;
  getValue(): T;
}

export interface Item {
  uuid: string;
}
