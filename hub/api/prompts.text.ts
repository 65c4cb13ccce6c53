import { texts } from '../i18n/words.ts'

/** Why a prompt is not taken. */
export const promptsText = texts(
  {
    not_offered: (names: string, offered: string) =>
      `${names} is not offered. There are: ${offered}.`,
    unreadable: (why: string) => `The braces of a {{variable}} do not close: ${why}.`,
  },
  {
    not_offered: (names, offered) => `Kullanılamayan: ${names}. Kullanılabilenler: ${offered}.`,
    unreadable: (why) => `Bir {{değişken}} ayraçları kapanmıyor: ${why}.`,
  },
)
