import { texts } from '../../i18n/words.ts'

/** Whom a mission is for that goes on from another. */
export const followUpText = texts(
  {
    same: 'For the same recipients as before.',
    others: (words: string, count: number) =>
      `“${words}”: ${count === 1 ? 'the lead' : `the ${count} leads`} that it was not made for yet.`,
    how_many: (words: string, count: number | string) =>
      `“${words}” does not fit: it was not made yet for ${count === 1 ? '1 lead' : `${count} leads`}. Choose the recipients.`,
    after_group: (words: string) =>
      `It was made for a group, so it is not clear who “${words}” are. Choose the recipients.`,
  },
  {
    same: 'Önceki alıcılar için.',
    others: (words, count) => `“${words}”: daha önce yapılmamış olan ${count} aday.`,
    how_many: (words, count) =>
      `“${words}” uymuyor: daha önce yapılmamış olan ${count} aday var. Alıcıları seçin.`,
    after_group: (words) =>
      `Bir grup için yapıldığından “${words}” kimler, belli değil. Alıcıları seçin.`,
  },
)
