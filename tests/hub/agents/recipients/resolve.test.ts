import { describe, expect, test } from 'vitest'
import { decide } from '../../../../hub/agents/recipients/resolve.ts'
import { besideAddress } from '../../../../hub/agents/recipients/strangers.ts'
import { tokensOf } from '../../../../hub/agents/recipients/tokens.ts'

const person = (id: string, name: string | null, company: string | null) => ({
  id,
  name,
  company,
  email: null,
})
const leads = [
  person('ali', 'Ali Kaya', 'Kaya Nakliyat A.Ş.'),
  person('hans', 'Hans Müller', 'Müller Logistik GmbH'),
  person('ayse', 'Dr. Ayşe Demir', 'Demir Lojistik'),
  person('veli', 'Veli Can', 'Demir Lojistik'),
  person('deniz', 'Deniz Ak', 'Kalite Ltd'),
  person('john', 'John Will', 'Acme'),
  person('zeynep', 'Zeynep Kaya', null),
  person('firm', null, 'Çelik & Oğulları Ltd. Şti.'),
]

function whom(task: string, as: 'recipient' | 'subject' = 'recipient') {
  const known = {
    as,
    leads,
    tags: ['fuar2025', 'VIP', 'big fleet'],
    countries: ['Germany', 'Türkiye'],
    task,
  }
  const resolved = decide(tokensOf(task).tokens, known)
  if (resolved.kind === 'leads') return resolved.lead_ids
  if (resolved.kind === 'filter') return resolved.filter
  if (resolved.kind === 'unclear') return { asks: resolved.lead_ids }
  return 'nobody'
}

describe('names', () => {
  test.each([
    ['Write to Ali', ['ali']],
    ['Ali’ye mail yaz', ['ali']],
    ["ali'ye mail yaz", ['ali']],
    ['Ali Bey’e teşekkür yaz', ['ali']],
    ['Mr Müller needs an answer: write to Mr Müller', ['hans']],
    ['Hans Müller’e cevap yaz', ['hans']],
    ["Hans Müller'in mailine cevap yaz", ['hans']],
    ['HANS MULLER’e cevap yaz', ['hans']],
    ['prepare a proposal for Acme', ['john']],
    ['Write to Hans and Ali', ['hans', 'ali']],
    ['Ali ve Hans’a yaz', ['ali', 'hans']],
    ['Ali ile Hans’a yaz', ['ali', 'hans']],
    ['Write to Hans plus Ali', ['hans', 'ali']],
    ['ali, hans ve Deniz’e yaz', ['ali', 'hans', 'deniz']],
    ['Çelik & Oğulları’na teklif gönder', ['firm']],
    ['Write to Ayşe of Demir Lojistik', ['ayse']],
    ['Write to Zeynep Kaya', ['zeynep']],
    ['Write to Veli, Demir Lojistik', ['veli']],
    ['Ankara’daki Ali’ye yaz', ['ali']],
    ['Ali Kaya ve Hans Müller için arama metni', ['ali', 'hans']],
    ['Mail Hans Müller how many kilometres our customers save', ['hans']],
    ['Mail Hans Müller why they should book now', ['hans']],
  ])('%s', (task, ids) => expect(whom(task)).toEqual(ids))

  test.each([
    ['parts of longer words', 'Kaliteli bir tanıtım maili yaz'],
    ['words of an address', 'see ali@kaya.example and write'],
    ['endings of common words', 'Canlı bir duyuru hazırla'],
    ['auxiliary verbs', 'will you write something nice'],
  ])('%s are no names', (_, task) => expect(whom(task)).toBe('nobody'))

  test.each([
    ['two of one firm', 'Write to Demir Lojistik', ['ayse', 'veli']],
    ['two of one surname', 'Write to Kaya', ['ali', 'zeynep']],
    ['a common word that is also a name', 'deniz hakkında bir mail yaz', ['deniz']],
    ['a part of a firm’s name', 'Çelik’e yaz', ['firm']],
    ['title case says nothing', 'Write a Mail To Ali About Prices Now', ['ali']],
    ['somebody left out', 'Write to everyone except Ali', ['ali']],
    ['somebody left out, Turkish', 'Ali hariç herkese yaz', ['ali']],
    ['a person and a group', 'Write to Ali and to the new leads', ['ali']],
    ['a subject without a recipient', 'Write a mail about Ali Kaya', ['ali']],
    ['one of two', 'Write to Ali or Hans', ['ali', 'hans']],
    ['one of two, Turkish', 'Ali’ye ya da Hans’a yaz', ['ali', 'hans']],
    ['a correction', 'Write to Ali, I mean Hans', ['ali', 'hans']],
    ['a long correction', 'Write to Ali, oh no wait, to Hans', ['ali', 'hans']],
    ['a quotation', 'Today Ali said Hans needs an answer, write', ['ali', 'hans']],
    ['a name of several leads', 'Write to the Kaya family', ['ali', 'zeynep']],
    ['an owner whose name ends with s', 'Write to Hans’ boss', ['hans']],
    ['a stranger', 'Write to Ahmet', []],
    ['a stranger, Turkish', 'Ahmet’e mail yaz', []],
    ['a polite stranger', 'Fatma Hanım’a mail yaz', []],
  ])('%s: asks', (_, task, ids) => expect(whom(task)).toEqual({ asks: ids }))

  test.each([
    ['write to hans müller about the price', ['hans']],
    ['send hans müller our terms', ['hans']],
    ['follow up w/ hans müller pls', ['hans']],
    ['deniz aka mail at', ['deniz']],
    ['ali kayaya ve hans müllere yaz', ['ali', 'hans']],
    ['ali kayanın mailine cevap yaz', ['ali']],
    ['hans müllere karşılık yaz', ['hans']],
  ])('%s: a whole name needs no capitals', (task, ids) => {
    const found = whom(task)
    expect(Array.isArray(found) ? found.toSorted() : found).toEqual(ids)
  })

  test.each([
    ['no Turkish ending in English', 'write to deniz aka', ['deniz']],
    ['no ending of this name', 'deniz ake mail at', ['deniz']],
    ['part of a sentence', 'write to hans müller customers', ['hans']],
    ['two of theirs', 'write to hans müller and his wife', ['hans']],
    ['somebody of theirs', 'hans müllere ve eşine yaz', ['hans']],
    ['a mail of somebody else', 'ali kayanın ortağına yaz', ['ali']],
    ['what is about them', 'hans müllere dair yaz', ['hans']],
    ['what is after them', 'hans müllere göre yaz', ['hans']],
    ['whoever is like them', 'hans müllere benzeyenlere yaz', ['hans']],
    ['what is theirs', 'hans müllere ait mail yaz', ['hans']],
    ['whom nobody knows', 'write to the people from the fair', []],
    ['whom nobody knows, Turkish', 'fuarda gördüklerimize yaz', []],
    ['a first name in a hurry', 'aliye mail at', ['ali']],
  ])('%s: asks', (_, task, ids) => expect(whom(task)).toEqual({ asks: ids }))

  test.each([
    ['Write a mail to Ali about Demir Lojistik', ['ali']],
    ['Demir Lojistik hakkında Ali’ye yaz', ['ali']],
    ['Write a mail like the one for Ali, to Hans', ['hans']],
    ['tell Ali that we have new customers', ['ali']],
    ['Cevap vermedik, Ali Bey’e yaz', ['ali']],
    ['Deniz Ak’tan bahsetmeden Hans’a yaz', ['hans']],
  ])('%s: what it is about gets nothing', (task, ids) => expect(whom(task)).toEqual(ids))

  test.each([
    ['Tell Hans Müller that we do not deliver on Sundays', ['hans']],
    ['Write to Hans, but keep it short', ['hans']],
    ['Skip the greeting and write to Hans', ['hans']],
    ['Write to Hans without naming a price', ['hans']],
    ['Hans’a kısa yaz, fiyat yazma', ['hans']],
    ['Hans’a yaz, zam değil indirim yaptık', ['hans']],
  ])('%s: leaves nobody out', (task, ids) => expect(whom(task)).toEqual(ids))

  test.each([
    ['Write to Hans Braun', ['hans']],
    ['Hans Braun’a yaz', ['hans']],
    ['Write to all leads in Atlantis', []],
    ['Atlantis’teki tüm adaylara yaz', []],
  ])('%s: another one than the lead asks', (task, ids) => expect(whom(task)).toEqual({ asks: ids }))

  test('everyone of a firm', () =>
    expect(whom('Write to everyone at Demir Lojistik')).toEqual(['ayse', 'veli']))

  test('what is researched needs no words that address it', () => {
    expect(whom('Ali Kaya hakkında araştır', 'subject')).toEqual(['ali'])
    expect(whom('look into Demir Lojistik', 'subject')).toEqual({ asks: ['ayse', 'veli'] })
    expect(whom('Çelik’i araştır', 'subject')).toEqual({ asks: ['firm'] })
    expect(whom('find firms like kaya', 'subject')).toBe('nobody')
  })
})

describe('groups', () => {
  test.each([
    ['Write a follow-up for those who did not answer', { answered: false }],
    ["Write to everyone who hasn't replied", { answered: false }],
    ['Yanıt vermeyenlere hatırlatma yaz', { answered: false }],
    ['cevap vermeyenler için takip maili', { answered: false }],
    ['Dönüş yapmayan müşterilere yaz', { answered: false }],
    ['Thank the people who replied', { answered: true }],
    ['Yanıt verenlere teşekkür yaz', { answered: true }],
    ['Write to the new leads', { stage: 'new' }],
    ['deniz taşımacılığı hakkında yeni adaylara mail yaz', { stage: 'new' }],
    ['teklif verdiğimiz firmalara yaz', { stage: 'proposal' }],
    ['a newsletter to everybody', {}],
    ['herkese bülten', {}],
    ['To everyone: our new customers love us', {}],
    ['Write to all leads in Germany', { country: 'Germany' }],
    ['Türkiye’deki müşterilere yaz', { country: 'Türkiye' }],
    ['Write to people tagged big fleet', { tag: 'big fleet' }],
    ['fuar2025 etiketli adaylara yaz', { tag: 'fuar2025' }],
    ['#vip mail', { tag: 'VIP' }],
    ['Deniz taşımacılığı hakkında bir bülten', { stage: 'new' }],
  ])('%s', (task, filter) => expect(whom(task)).toEqual(filter))

  test.each([
    ['two groups', 'Write to the new leads and to those who did not answer'],
    ['an unknown tag', 'Write to people tagged nobody-has-it'],
    ['an unknown hash tag', '#yok mail'],
  ])('%s: asks', (_, task) => expect(whom(task)).toEqual({ asks: [] }))

  test.each([
    'Müşterilerimiz neden yanıt vermiyor?',
    'We have new customers and a new office',
    'Write about our office in Germany',
  ])('%s: is said by the way', (task) => expect(whom(task)).toBe('nobody'))
})

describe('somebody listed with leads whom no lead is called', () => {
  const askedFor = (task: string) => {
    const known = { as: 'recipient' as const, leads, tags: [], countries: ['Germany'], task }
    const resolved = decide(tokensOf(task).tokens, known)
    return resolved.kind === 'unclear'
      ? { who: /“(.+?)”/.exec(resolved.because.en)?.[1] }
      : resolved
  }

  test.each([
    ['Write to Ali and Mert', 'Mert'],
    ['Write to Ali Kaya and Mert Öz about the fair', 'Mert Öz'],
    ['Write to Ali Kaya, and to Mert', 'Mert'],
    ['Write to Ali and also to Dr Mert', 'Mert'],
    ['Write to Ali and cc Mert please', 'Mert'],
    ['Write to Ali, Mert and Hans', 'Mert'],
    ['Write to Ali, Mert and Berk', 'Mert'],
    ['Write to Ali, Hans and Mert', 'Mert'],
    ['Write to Mert and Ali', 'Mert'],
    ['Write to Mert, Hans and Ali', 'Mert'],
    ['Write to Ali and Mert, Berk Öz knows it', 'Mert'],
    ['Write to Berk, Mert and Ali', 'Mert'],
    ['Ali’ye ve Mert’e yaz', 'Mert'],
    ['Ali’ye ve ayrıca Mert Bey’e yaz', 'Mert Bey'],
    ['Ali, Mert ve Hans’a yaz', 'Mert'],
    ['Mert ve Hans’a yaz', 'Mert'],
    ['Fatma Hanım’a yaz', 'Fatma Hanım'],
    ['Bugün Fatma Hanım’a yaz', 'Fatma Hanım'],
    ['Yarın Mert Öz Bey’e yaz', 'Mert Öz Bey'],
    ['Bugün Fatma hanıma yaz', 'Fatma'],
    ['Mert’e yaz', 'Mert'],
  ])('is asked about: %s', (task, who) => expect(askedFor(task)).toEqual({ who }))

  test.each([
    ['Write to Ali and Hans', ['ali', 'hans']],
    ['Ali ve Hans’a yaz', ['ali', 'hans']],
    ['Hello, Ali and Hans should get a mail', ['ali', 'hans']],
    ['Write to Ali and his team about Hamburg', ['ali']],
    ['Ali’ye ve Ekibi’ne yaz', ['ali']],
    ['Write to Ali in English and Turkish', ['ali']],
    ['Write to Ali and Hans in Hamburg and Berlin', ['ali', 'hans']],
    ['Write to Ali, Ege Nakliyat', ['ali']],
    ['Write to Ali. Mert and Berk will come', ['ali']],
    ['Write to Ali and Monday is fine', ['ali']],
    ['Write to Ali and LinkedIn', ['ali']],
    ['Write to Ali: Mert’s and Berk’s, both trucks, arrived', ['ali']],
    ['In Berlin, Ali and Hans should get a mail', ['ali', 'hans']],
    ['Write to Ali and Happy Corp closes the deal', ['ali']],
    ['Write to Ali about Mert and Berk', ['ali']],
    ['Ali’ye Mert’in ve Berk’in geleceğini yaz', ['ali']],
  ])('and nobody else is: %s', (task, lead_ids) => {
    expect(askedFor(task)).toMatchObject({ kind: 'leads', lead_ids })
  })
})

describe('beside an address', () => {
  test.each([
    ['Write to ali@kaya.example and Hans', 'Hans'],
    ['Write to ali@kaya.example and Hans Müller about it', 'Hans Müller'],
    ['Write to ali@kaya.example, hans@mueller.example and Mert', 'Mert'],
    ['Write to Hans and ali@kaya.example', 'Hans'],
    ['Write to ali@kaya.example and all new leads', 'new leads'],
    ['Write to ali@kaya.example and to all the other new leads', 'new leads'],
    ['Write to all new leads and ali@kaya.example', 'new leads'],
    ['Write to everybody and to ali@kaya.example', 'everybody'],
    ['Yeni adaylara ve ali@kaya.example adresine yaz', 'Yeni adaylara'],
    ['Write to ali@kaya.example and all leads', 'all leads'],
    ['ali@kaya.example’e ve tüm yeni adaylara yaz', 'yeni adaylara'],
    ['Write to ali@kaya.example and cc Dr Mert', 'Mert'],
    ['Write to ali@kaya.example and Fatma Hanım', 'Fatma Hanım'],
    ['ali@kaya.example ve Hans’a yaz', 'Hans'],
    ['Hans ve ali@kaya.example adresine yaz', 'Hans'],
    ['ali@kaya.example’e ve yeni adaylara yaz', 'yeni adaylara'],
  ])('somebody else is found: %s', (task, who) => expect(besideAddress(task)).toBe(who))

  test.each([
    'Write to ali@kaya.example',
    'Mail to ali@kaya.example please',
    'Write to Ali Kaya, ali@kaya.example',
    'Write to Ali Kaya (ali@kaya.example) about the fair',
    'Write to ali@kaya.example and hans@mueller.example',
    'Write to ali@kaya.example about new leads in Bursa and Izmir',
    'Write to ali@kaya.example and thank him for Hans',
    'Write to ali@kaya.example in English and Turkish',
    'Write to ali@kaya.example and say that all new leads got it',
    'Tell ali@kaya.example, who knows our new leads',
    'We met new leads and ali@kaya.example wants a mail',
    'Write about all our new customers today and to ali@kaya.example',
    'We met new leads. Write to ali@kaya.example and thank him',
    'Write to ali@kaya.example: we met new leads and customers',
  ])('nobody else is found: %s', (task) => expect(besideAddress(task)).toBeUndefined())
})
