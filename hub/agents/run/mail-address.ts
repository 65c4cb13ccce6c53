/** An e-mail address inside a text, as the source of a pattern with the flag `u`. */
export const MAIL_ADDRESS = String.raw`[\p{L}\p{N}._%+-]+@(?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]*[\p{L}\p{N}]`
