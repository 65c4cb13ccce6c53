import { texts } from '../../i18n/words.ts'

/** Why nothing supports a sentence. */
export const claimText = texts(
  {
    none: 'It cites no evidence.',
    strange: (numbers: string) => `The evidence does not say ${numbers}.`,
    unrelated: 'It shares nothing with the evidence it cites.',
  },
  {
    none: 'Hiçbir kanıt göstermiyor.',
    strange: (numbers) => `Kanıtta geçmeyen sayı: ${numbers}.`,
    unrelated: 'Gösterdiği kanıtla ortak bir yanı yok.',
  },
)
