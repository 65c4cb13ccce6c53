import { texts } from '../../../shared/words/texts.ts'

export const quietText = texts(
  {
    none: 'No quiet hours: alerts are sent at any time.',
    add: 'Add quiet window',
    most: (count: number) => `A zone has at most ${count} quiet windows.`,
    window: (nr: number) => `Window ${nr}`,
    remove: (nr: number) => `Remove window ${nr}`,
    days: 'Begins on',
    next_day: 'On the next day',
    midnight: 'The end of the day',
  },
  {
    none: 'Sessiz saat yok: uyarılar her saatte gönderilir.',
    add: 'Sessiz aralık ekle',
    most: (count: number) => `Bir bölgenin en çok ${count} sessiz aralığı olabilir.`,
    window: (nr: number) => `${nr}. aralık`,
    remove: (nr: number) => `${nr}. aralığı kaldır`,
    days: 'Başladığı günler',
    next_day: 'Ertesi gün',
    midnight: 'Gün sonu',
  },
)
