import { texts } from '../i18n/words.ts'

/** Who did something and has no name. */
export const byText = texts(
  {
    admin: 'First admin',
    member: 'A former member',
    api: 'API',
    agent: 'An agent',
    hub: 'The hub',
    unknown: 'Unknown',
  },
  {
    admin: 'İlk yönetici',
    member: 'Eski bir üye',
    api: 'API',
    agent: 'Bir ajan',
    hub: 'Hub',
    unknown: 'Bilinmiyor',
  },
)
