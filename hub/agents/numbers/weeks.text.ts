import { texts } from '../../i18n/words.ts'

/** A report that compares two weeks. */
export const weeksText = texts(
  {
    title: 'This week and the last',
    columns: 'What|Last 7 days|7 days before|Change',
    measures: {
      leads: 'New leads',
      sent: 'Mails sent',
      replied: 'Replies',
      bounced: 'Bounces',
      unsubscribed: 'Unsubscribed',
      edited: 'Drafts that people changed',
      rejected: 'Drafts rejected',
      done: 'Missions done',
      failed: 'Missions failed',
    },
    part: (what: string, now: string, before: string) => `${what} ${now} (before ${before})`,
    sentence: (parts: string) => `In 7 days: ${parts}.`,
    nothing: 'Nothing has happened in the last 14 days.',
  },
  {
    title: 'Bu hafta ve geçen hafta',
    columns: 'Ne|Son 7 gün|Önceki 7 gün|Değişim',
    measures: {
      leads: 'Yeni aday',
      sent: 'Gönderilen e-posta',
      replied: 'Yanıt',
      bounced: 'Geri dönen e-posta',
      unsubscribed: 'Listeden çıkan',
      edited: 'İnsanların değiştirdiği taslak',
      rejected: 'Reddedilen taslak',
      done: 'Biten görev',
      failed: 'Başarısız görev',
    },
    part: (what, now, before) => `${what} ${now} (önceki ${before})`,
    sentence: (parts) => `7 günde: ${parts}.`,
    nothing: 'Son 14 günde bir şey olmadı.',
  },
)
