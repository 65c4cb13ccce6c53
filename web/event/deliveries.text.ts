import { texts } from '../../shared/texts.ts'

/** The states of a message, as the inbox and the channels name them. */
export const deliveriesText = texts(
  {
    statuses: {
      queued: 'Waiting',
      held: 'Held',
      sending: 'Being sent',
      succeeded: 'Delivered',
      failed: 'Failed',
      expired: 'Expired',
      cancelled: 'Cancelled',
    },
  },
  {
    statuses: {
      queued: 'Sırada',
      held: 'Bekletiliyor',
      sending: 'Gönderiliyor',
      succeeded: 'İletildi',
      failed: 'Başarısız',
      expired: 'Süresi doldu',
      cancelled: 'İptal edildi',
    },
  },
)
