import { texts } from '../../../shared/texts.ts'

export const changesText = texts(
  {
    all: 'all',
    none: 'none',
    yes: 'yes',
    no: 'no',
    gap: (gap: string) => `left out, if smaller by more than ${gap}`,
    redrawn: 'drawn anew',
  },
  {
    all: 'tümü',
    none: 'hiçbiri',
    yes: 'evet',
    no: 'hayır',
    gap: (gap: string) => `fark ${gap} değerinden büyükse dışarıda`,
    redrawn: 'yeniden çizildi',
  },
)
