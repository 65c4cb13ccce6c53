import { texts } from '../../i18n/words.ts'

/** Why a prompt is refused. */
export const promptsText = texts(
  {
    not_offered: (names: string, offered: string) =>
      `Unknown placeholder: ${names}. Available: ${offered}.`,
    unreadable: (why: string) => `The braces of a {{placeholder}} are not closed: ${why}.`,
  },
  {
    not_offered: (names, offered) =>
      `Bilinmeyen değişken: ${names}. Kullanılabilenler: ${offered}.`,
    unreadable: (why) => `Bir {{değişken}} ayraçları kapanmıyor: ${why}.`,
  },
)
