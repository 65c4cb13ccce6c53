import { texts } from '../../i18n/words.ts'

/** What a mission that proposed a sequence says. */
export const sequenceText = texts(
  {
    summary: (mails: number, held: number) =>
      `A sequence of ${mails} mails; sentences without evidence: ${held}.`,
    approve: 'Nothing is sent before you approve it with its recipients.',
  },
  {
    summary: (mails, held) => `${mails} e-postalık bir dizi; kanıtsız cümle: ${held}.`,
    approve: 'Siz alıcılarıyla birlikte onaylamadan hiçbir şey gönderilmez.',
  },
)
