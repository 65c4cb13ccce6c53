import { texts } from '../../shared/words/texts.ts'

export const placeText = texts(
  {
    label: 'Search a city',
    found: 'Cities',
    none: 'No city has such a name.',
    failed: 'The list of cities did not come. Type again to ask again.',
    by: 'Cities:',
  },
  {
    label: 'Şehir ara',
    found: 'Şehirler',
    none: 'Böyle bir şehir yok.',
    failed: 'Şehir listesi gelmedi. Yeniden istemek için yeniden yazın.',
    by: 'Şehirler:',
  },
)
