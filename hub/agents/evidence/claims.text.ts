import { texts } from '../../i18n/words.ts'

/** Why no evidence supports a sentence. */
export const claimText = texts(
  {
    none: 'It cites no evidence.',
    strange: (numbers: string) => `The evidence does not contain ${numbers}.`,
    unrelated: 'It has nothing in common with the evidence it cites.',
  },
  {
    none: 'Kanıt göstermiyor.',
    strange: (numbers) => `Kanıtta geçmeyen sayı: ${numbers}.`,
    unrelated: 'Gösterdiği kanıtla ortak bir yanı yok.',
  },
)
