import { texts } from '../../i18n/words.ts'

/** What the judge says of a sentence that lacks support. */
export const objectionText = texts(
  {
    unsure: 'No evidence says exactly this.',
    contradicted: 'The evidence says otherwise.',
  },
  {
    unsure: 'Hiçbir kanıt tam olarak bunu söylemiyor.',
    contradicted: 'Kanıt tersini söylüyor.',
  },
)
