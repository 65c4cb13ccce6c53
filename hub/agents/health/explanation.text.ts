import { texts } from '../../i18n/words.ts'

/** Why the hub does not take what the model says of its measurements. */
export const explanationText = texts(
  {
    numbers: (which: string) => `These numbers were not measured: ${which}.`,
    language: 'The explanation is in another language.',
    repeated: (what: string) => `It says the same twice: “${what}”.`,
  },
  {
    numbers: (which) => `Şu sayılar ölçülmedi: ${which}.`,
    language: 'Açıklama başka bir dilde.',
    repeated: (what) => `Aynı şeyi iki kez söylüyor: “${what}”.`,
  },
)
