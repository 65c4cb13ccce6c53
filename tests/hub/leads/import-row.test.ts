import { describe, expect, test } from 'vitest'
import { type ImportField, readRow, suggestMapping } from '../../../hub/leads/import-row.ts'

describe('a column is understood by its header', () => {
  test.each<[ImportField, string]>([
    ['email', 'E-mail|Email|Mail|E-posta|ePosta|Work e-mail'],
    ['lawful_basis', 'Lawful basis|Legal basis|Consent|Hukuki dayanak|KVKK|Açık rıza'],
    ['website', 'Web|Website|Web site|Web sitesi|URL|Homepage|Domain|İnternet|Alan adı|Site'],
    ['phone', 'Phone|Tel|Tel.|Telephone|Telefon|Telefonu|GSM|Mobile|Cep'],
    ['company', 'Company|Organization|Organisation|Account|Business|Firma|Firması|Firmanın adı'],
    ['company', 'Şirket|Şirketi|Şirketin|Kurum|Kurumun adı|Ticari unvan|Ticari unvanı'],
    ['title', 'Title|Position|Role|Function|Görev|Görevi|Pozisyon|Unvan|Ünvanı|Meslek'],
    ['name', 'Name|Contact|Person|Ad soyad|Adı soyadı|İsim soyisim|Yetkili|Kişi|Full name'],
    ['country', 'Country|Ülke|Ülkesi'],
    ['language', 'Language|Preferred language|E-mail language|Dil|Dili|Yazışma dili|Lisan'],
    ['stage', 'Stage|Status|Aşama|Aşaması|Durum|Durumu'],
    ['source', 'Source|Origin|Kaynak|Kaynağı'],
    ['score', 'Score|Puan|Puanı|Skor'],
    ['tags', 'Tag|Tags|Label|Labels|Etiket|Etiketler|Etiketleri'],
    ['note', 'Note|Notes|Comment|Comments|Remark|Remarks|Description|Not|Notlar|Açıklama|Yorum'],
    ['email', 'E Mail|E posta|E-posta adresi|Eposta adresi|Our email'],
    ['website', 'Websitesi'],
    ['language', 'Mail language|Email language|E-mail language|Contact language|Spoken language'],
    ['language', 'Correspondence language|Tercih edilen dil|Tercih ettiği dil|İletişim dili'],
    ['language', 'Konuştuğu dil|Yazışma lisan'],
    ['amount', 'Amount|Deal value|Value|Revenue|Tutar|Tutarı|Bedel'],
    ['currency', 'Currency|Para birimi|Döviz'],
    ['close_on', 'Close on|Close date|Closing date|Expected close|Kapanış|Kapanış tarihi'],
    ['next_step', 'Next step|Sonraki adım'],
    ['outcome_reason', 'Outcome reason|Lost reason|Won reason|Kayıp nedeni|Kazanma nedeni'],
    ['outcome_note', 'Outcome note|outcome_note'],
    ['basis_note', 'Basis note'],
    ['basis_source', 'Basis source'],
    ['basis_on', 'Basis on|Basis date|Dayanak tarihi'],
    // More words around it: something else, or nothing that we know.
    ['note', 'My outcome note|Outcome note old|My basis note|Basis note old'],
    ['source', 'My basis source|Basis source old'],
  ])('as %s: %s', (field, headers) => {
    for (const header of headers.split('|')) {
      expect([header, suggestMapping([header], [])]).toEqual([header, { [field]: header }])
    }
  })

  test.each<[ImportField, string, string]>([
    [
      'first_name',
      'First name|Firstname|First - name|Given name|Givenname|Forename:|Ad|Adı|İsim',
      'Surname',
    ],
    [
      'last_name',
      'Last name|Lastname|Surname|Surname:|Family name|Familyname|Soyad|Soyadı|Soyisim',
      'Forename',
    ],
  ])('as %s, next to the other half of the name: %s', (field, headers, other) => {
    for (const header of headers.split('|')) {
      const mapping = suggestMapping([header, other], [])
      expect([header, mapping[field]]).toEqual([header, header])
      expect(Object.keys(mapping)).toHaveLength(2)
    }
  })

  test('a first name alone is the name, and a whole name leaves out its halves', () => {
    expect(suggestMapping(['Ad'], [])).toEqual({ name: 'Ad' })
    expect(suggestMapping(['Surname'], [])).toEqual({ last_name: 'Surname' })
    expect(suggestMapping(['Name', 'Surname'], [])).toEqual({ name: 'Name' })
    expect(suggestMapping(['First name', 'Name'], [])).toEqual({ name: 'Name' })
  })

  test('a field of the project takes the column with its label or key, before all others', () => {
    const own = [
      { key: 'fleet_size', label: ' Filo (adet) ' },
      { key: 'state', label: 'Durum' },
    ]
    expect(suggestMapping(['Filo - Adet', 'Fleet size', 'Durum', 'Status'], [], own)).toEqual({
      'custom.fleet_size': 'Filo - Adet',
      'custom.state': 'Durum',
      stage: 'Status',
    })
    expect(suggestMapping(['fleet_size', 'Fleet'], [], own)).toEqual({
      'custom.fleet_size': 'fleet_size',
    })
  })

  test('of an export is what it is called there, also beside a field of the project called alike', () => {
    const own = [{ key: 'score', label: 'Amount' }]
    const header = [
      'id',
      'name',
      'score',
      'amount',
      'created_at',
      'Amount',
      'First name',
      'Surname',
    ]
    const id = crypto.randomUUID()
    expect(suggestMapping(header, [[id]], own)).toEqual({
      ...{ id: 'id', name: 'name', score: 'score', amount: 'amount', 'custom.score': 'Amount' },
    })
    expect(suggestMapping(header.slice(1), [], own)).toMatchObject({ 'custom.score': 'score' })
  })

  test('whatever stands in its rows', () => {
    expect(suggestMapping(['E-mail', 'Ad'], [['ada@x.example', 'Ada']])).toEqual({
      email: 'E-mail',
      name: 'Ad',
    })
  })

  test('of two columns for one field the first counts', () => {
    expect(suggestMapping(['E-mail', 'Mail', 'Phone'], [])).toEqual({
      email: 'E-mail',
      phone: 'Phone',
    })
  })

  test('an id is one that we gave; what only looks like a field is none', () => {
    const id = crypto.randomUUID()
    for (const header of ['id', 'ID', 'Lead ID']) {
      expect(suggestMapping([header], [[id]])).toEqual({ id: header })
      expect(suggestMapping([header], [[id], ['17']])).toEqual({})
      // Rows that were added to an export, and empty ones.
      expect(suggestMapping([header], [[id], [' '], [], [id]])).toEqual({ id: header })
      expect(suggestMapping([header], [[''], []])).toEqual({})
    }
    for (const header of [
      ...['Paid', 'Void', 'Identity', 'Emaille', 'Metal', 'Notary', 'Statusbar', 'Adres'],
      ...['Basis date old', 'My basis date', 'Programming language', 'Language school'],
      ...['Programlama dili', 'Dil kursu', 'Surname prefix', 'Old surname', 'Bad'],
    ]) {
      expect([header, suggestMapping([header], [])]).toEqual([header, {}])
    }
  })
})

describe('a word for a fixed value is understood', () => {
  const read = (field: 'stage' | 'lawful_basis' | 'language', word: string) =>
    readRow(['A', word], { columns: ['Name', 'Word'], mapping: { name: 'Name', [field]: 'Word' } })

  test.each([
    ['new', 'New|Yeni|Lead|Aday'],
    ['contacted', 'Contacted|İletişime geçildi|Ulaşıldı|Arandı|İletişim kuruldu'],
    ['replied', 'Replied|Yanıtladı|Yanıt verdi|Cevap verdi|Cevapladı'],
    ['meeting', 'Meeting|Toplantı|Görüşme|Demo'],
    ['proposal', 'Proposal|Teklif|Teklif verildi|Offer|Quote'],
    ['won', 'Won|Kazanıldı|Müşteri|Customer|Closed - won|(Won!)'],
    ['lost', 'Lost|Kaybedildi|Kayıp|Closed-Lost'],
  ])('as the stage %s: %s', (stage, words) => {
    for (const word of words.split('|')) {
      expect([word, read('stage', word).row.lead.stage]).toEqual([word, stage])
    }
  })

  test.each([
    ['consent', 'Consent|Rıza|Açık rıza|Onay|İzin|Opt-in'],
    ['contract', 'Contract|Sözleşme'],
    ['legitimate_interest', 'legitimate_interest|Legitimate interest|Meşru menfaat'],
  ])('as the basis %s: %s', (basis, words) => {
    for (const word of words.split('|')) {
      expect([word, read('lawful_basis', word).row.lead.lawful_basis]).toEqual([word, basis])
    }
  })

  test.each([
    ['tr', 'tr|TR|tr-TR|tr_TR|tur|Turkish|Türkçe|TÜRKÇE|turkce|Turkish, English'],
    ['en', 'en|en-GB|English|İngilizce|ingilizce / Türkçe|EN (UK)'],
    ['de', 'de|German|Almanca|Deutsch|German and English|Almanca ve İngilizce'],
  ])('as the language %s: %s', (language, words) => {
    for (const word of words.split('|')) {
      expect([word, read('language', word).row.lead.language]).toEqual([word, language])
    }
  })

  test('and nothing else is', () => {
    expect(read('language', 'zz')).toMatchObject({ mistakes: [{ column: 'Word' }] })
    expect(read('language', 'Klingonca')).toMatchObject({ mistakes: [{ column: 'Word' }] })
    expect(read('stage', 'wonderful')).toMatchObject({ mistakes: [{ column: 'Word' }] })
    expect(read('lawful_basis', 'on')).toMatchObject({ mistakes: [{ column: 'Word' }] })
  })
})
