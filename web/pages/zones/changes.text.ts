import { texts } from '../../../shared/words/texts.ts'

export const changesText = texts(
  {
    all: 'all',
    none: 'none',
    yes: 'yes',
    no: 'no',
    gap: (gap: string) => `left out, if smaller by more than ${gap}`,
    step: (minutes: string, channels: string) => `after ${minutes} min: ${channels}`,
    redrawn: 'drawn again',
  },
  {
    all: 'tümü',
    none: 'hiçbiri',
    yes: 'evet',
    no: 'hayır',
    gap: (gap: string) => `fark ${gap} değerinden büyükse dışarıda`,
    step: (minutes: string, channels: string) => `${minutes} dk sonra: ${channels}`,
    redrawn: 'yeniden çizildi',
  },
)
