export const LANGUAGES = ['en', 'tr'] as const
export type Language = (typeof LANGUAGES)[number]

type Message = string | ((...values: never[]) => string)
export type Texts = { readonly [key: string]: Message | Texts }
/** The same keys in the other language; functions keep their parameters. */
export type Translation<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...values: infer V) => string
      ? (...values: V) => string
      : Translation<T[K]>
}
export type Both<T extends Texts> = { readonly en: T; readonly tr: Translation<T> }

/** texts pairs the English and Turkish texts of one topic; a key missing in one is a type error. */
export function texts<const T extends Texts>(en: T, tr: Translation<T>): Both<T> {
  return { en, tr }
}
