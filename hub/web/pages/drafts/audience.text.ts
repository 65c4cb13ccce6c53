import { texts } from '../../../../shared/words/texts.ts'
import { plural } from '../../../../web/ui/language.ts'

/** The dialog that chooses another lead or audience for a draft. */
export const audienceText = texts(
  {
    other_lead: 'Choose another lead',
    other_people: 'Choose other recipients',
    text_stays: 'The text stays the same: check that it suits the new recipients.',
    find_lead: 'Find a lead',
    search: 'Search',
    search_hint: 'Name, company or e-mail.',
    none_found: 'No lead matches.',
    no_email: 'no e-mail',
    any_tag: 'All tags',
    country: 'Country',
    any_country: 'All countries',
    answered: 'Answers',
    any_answer: 'Answered or not',
    did_answer: 'Answered',
    did_not_answer: 'Were written to and did not answer',
    only_chosen: (n: number) =>
      plural('en', n, { one: 'Only the # selected lead', other: 'Only the # selected leads' }),
    get_it: (n: number, total: number) =>
      n === total
        ? plural('en', n, { one: '# person will get it', other: '# people will get it' })
        : `${n} of ${plural('en', total, { one: '# person will get it', other: '# people will get it' })}`,
  },
  {
    other_lead: 'Başka bir aday seç',
    other_people: 'Başka alıcılar seç',
    text_stays: 'Metin aynı kalır: yeni alıcılara uygun olduğunu kontrol edin.',
    find_lead: 'Aday bul',
    search: 'Ara',
    search_hint: 'Ad, firma ya da e-posta.',
    none_found: 'Eşleşen aday yok.',
    no_email: 'e-posta yok',
    any_tag: 'Tüm etiketler',
    country: 'Ülke',
    any_country: 'Tüm ülkeler',
    answered: 'Yanıtlar',
    any_answer: 'Yanıt verenler ve vermeyenler',
    did_answer: 'Yanıt verenler',
    did_not_answer: 'Yazılan ve yanıt vermeyenler',
    only_chosen: (n) => plural('tr', n, { other: 'Yalnızca seçilen # aday' }),
    get_it: (n, total) =>
      n === total
        ? plural('tr', n, { other: '# kişi alacak' })
        : `${plural('tr', total, { other: '# kişiden' })} ${n} kişi alacak`,
  },
)
