import { expect, test } from 'vitest'
import type { AgentName } from '../../../../hub/agents/names.ts'
import { frameOf } from '../../../../hub/agents/run/frames.ts'
import { tokensOf } from '../../../../hub/agents/run/tokens.ts'

/** A sentence of each kind, by the agent that it is for. */
const KINDS: Record<AgentName, string[]> = {
  engineer_system: [
    'add a dark mode to the hub',
    'hub: add a keyboard shortcut for approve',
    "make the hub's lead list show the phone column",
    'can the hub show the tags on the board cards? patch it',
    'hub için kod yaz: başlangıcı kısalt',
    "hub'a koyu tema ekle",
  ],
  legal: [
    'is it legal to mail these people without asking?',
    'May we keep the phone numbers of lost leads?',
    'Do we need consent before we put leads on the newsletter list?',
    'Can a customer sue us because of a late delivery?',
    'is a verbal agreement binding',
    'What are the rules for cold calls to private people in Austria?',
    'Can we get into trouble for storing old leads?',
    "Who is liable if our software deletes a customer's invoices?",
    'which law applies to us',
    'is it ok to buy a list of firms',
    'do we have to tell people that calls get recorded',
    'supplier is 6 weeks late, can we cancel and get money back',
    'what must be in the imprint of a german website',
    'are we ok to buy an email list from that broker',
    'Satış görüşmelerini kaydetmemiz suç mu?',
    'Faturada kişisel veri göstermek zorunda mıyız?',
    'Eski adayların e-postalarını silmek şart mı?',
    'sözlü anlaşma bizi bağlar mı',
    'rıza olmadan telefon numarası saklayabilir miyiz',
    'İzin almadan reklam maili atabilir miyiz?',
    'Müşteri verisini silmezsek ne ceza alırız?',
  ],
  web_research: [
    'read this link https://t.ly/abc',
    'their site must mention opening hours, go see',
    'take quotes from their homepage',
    'kargoline.de sitesine bak',
    'rakibin sitesinde fiyat var mı bak',
  ],
  marketing: [
    'email Hans Müller about the NDA he asked for',
    'write an email to Hans Müller',
    'Tell our customers by e-mail that the server will be down on Sunday',
    'invite our leads to the webinar on Thursday',
    'come up w/ a catchy subject for the fair invitation',
    'drop anna a line that the samples shipped today',
    'takip maili yaz',
    'Hatanın düzeldiğini müşterilere e-postayla bildir',
    'Avukatın sözleşmeyi onayladığını Umut Bey’e yaz',
    'cevap vermeyenlere bir hatırlatma yaz',
    'indirim duyurusu için kısa ve samimi bir metin lazım mail olarak',
  ],
  sales: [
    'calling borusan at 2, what do i open with',
    'they keep saying competitor is 15% cheaper. give me comebacks',
    'prepare me for the meeting with Borusan',
    'borusan toplantısına beni hazırla',
    'yarın arkasla toplantım var bana notlar hazırla',
    'yarın annayı ararken ne söyleyeyim',
    'çok pahalı dediklerinde nasıl cevap veririm',
    'telefonda müşteriyi nasıl ikna ederim',
    'pahalısınız diyen müşteriye karşı argüman ver',
  ],
  pm: [
    "improve the marketing agent's prompt",
    'Improve the prompt of the sales agent',
    'what can we learn from the failed missions',
    'why were so many invoice missions rejected',
    'which of the agents fails most and why',
    'our approvals take ages, suggest a better way of working',
    'hangi ajan en çok hata yapıyor, neden',
    'onaylar çok uzun sürüyor daha iyi bir yöntem öner',
    'Satış ajanının istemini iyileştir',
    'hukuk ajanı için istem iyileştirmesi',
    'Son beş bülten neden reddedildi, neyi değiştirelim',
    'başarısız görevlerden ne öğrenebiliriz',
  ],
  engineer: [
    'write a function that parses CSV',
    'Why does code/report.js crash on empty input?',
    'convert this javascript to typescript',
    'little script to dedupe a csv by email pls',
    'code/rapor.sql yanlış topluyor düzelt',
    'fiyat listesini json a çeviren bir şey yazar mısın, excel den',
    'sitedeki iletişim formuna doğrulama ekle',
    'csv okuyan bir fonksiyon yaz',
    'barkod okuyan kod yaz',
    'formdaki tarih alanı safari de bozuk düzeltsene',
  ],
  system: [
    'why is the hub slow',
    'the database does not respond',
    'SMTP connection refused, help',
    'no mails are going out',
    'Why are no mails going out since this morning?',
    'hub neden yavaş',
    'dünden beri imap girişi olmuyor',
    'dün geceki yedek sağlam mı',
    'e-postalar gitmiyo, sebebi ne',
  ],
  ceo: [
    'weekly report for management',
    'where should we focus this year?',
    'should we hire a second sales rep or spend on ads',
    'haftanın yönetim özeti',
    'ikinci bir satışçı mı alalım reklama mı yatıralım',
    'fiyatları artırsak mı pazar payı mı kovalasak, karar lazım',
  ],
  data: [
    'count bounced mails',
    'percentage of opened mails',
    'How often did we write to lost leads this year?',
    'show leads tagged "expo" as a table',
    'geçen ay kaç lead geldi',
    'notlarda faturadan kaç kez bahsetmişiz',
    '30 günden eski teklifler hangileri',
    'İmzalanan sözleşmeleri ülkeye göre say',
    '"fuar" etiketli adayları tablo olarak göster',
  ],
  finance: [
    'credit note for invoice 2026-101',
    'What is the total of 14 hours of legal advice at 190 euros?',
    'how much would 3 trucks a week cost us per month',
    'usta makinaya fatura yaz 3 pompa 900',
    '1.250,50 TL artı %20 KDV ne kadar eder',
    'haftada 3 tır bize ayda kaça mal olur',
  ],
  research: [
    'find me 20 hotels in Antalya',
    'build a list of freight forwarders in Hamburg',
    'What do we know about Borusan Lojistik?',
    'pull the contacts out of the attached attendee list',
    'bakeries in lyon with more than one shop, i need names',
    'Who are the competitors of Atlas Kargo?',
    'who decides about packaging at ford otosan',
    "dig up whatever you can on mark grant's company before thursday",
    'find law firms in Ankara',
    'Müşteri olabilecek muhasebe firmaları bul',
    'antalyada 20 otel bul',
    'şu katılımcı listesinden firmaları çek',
    'delta tarım kimdir necidir bi bak bakalım',
  ],
  docs: [
    'summarise this document',
    'document how we onboard a new customer',
    'one page about our company for the trade fair booth',
    'iade koşullarımızı daha anlaşılır yaz',
    'şu uzun metni yarım sayfaya indir',
    'depo sürecimizi anlatan bi doküman lazım',
  ],
}

test.each(
  Object.entries(KINDS).flatMap(([agent, tasks]) => tasks.map((task) => ({ agent, task }))),
)('the kind of “$task” is for $agent', ({ agent, task }) => {
  expect(frameOf(tokensOf(task))?.agent).toBe(agent)
})

test.each([
  '',
  'buy a car',
  'x write an email to Hans',
  'Hans wants to write an email',
  'find the bugs in our list',
  'leads in Bursa',
  'Bursa’daki adaylar',
])('“%s” is of no kind', (task) => {
  expect(frameOf(tokensOf(task))).toBeUndefined()
})

test.each([
  ['write an email to Hans', 0, 4, [0, 2, 3]],
  ['Hello there. Please write an email to Hans', 2, 7, [2, 3, 5, 6]],
  ['could you please write an email to Hans', 0, 7, [0, 1, 2, 3, 5, 6]],
  ['is it legal to mail these people', 0, 3, [0, 1, 2]],
  ['which law applies', 0, 2, [0, 1]],
  ['Yarın görüşelim. hub için kod yaz', 2, 5, [2, 4]],
  ['Ne var. Dünden beri imap girişi olmuyor', 4, 7, [4, 5, 6]],
])('the kind of “%s” is told by some of its words', (task, from, to, telling) => {
  expect(frameOf(tokensOf(task))).toMatchObject({ from, to, telling })
})

/** So many words that say nothing. */
const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ')

test.each([0, 48, 60, 97, 98, 99, 100, 130, 148, 149, 400])(
  'the kind of a long sentence is found behind %i words',
  (count) => {
    const task = `${words(count)} hub için kod yaz x y z`.trim()
    expect(frameOf(tokensOf(task))).toMatchObject({
      agent: 'engineer_system',
      from: count,
      to: count + 3,
    })
  },
)

test('a kind has no more than a hundred words', () => {
  expect(frameOf(tokensOf(`hub ${words(98)} kod yaz`))).toMatchObject({ from: 0, to: 100 })
  expect(frameOf(tokensOf(`hub ${words(99)} kod yaz`))).toBeUndefined()
  // What was cut off is not its end.
  expect(frameOf(tokensOf(`${words(98)} göre say`))?.agent).toBe('data')
  expect(frameOf(tokensOf(`${words(98)} göre say x`))).toBeUndefined()
})

test('an order is one at the beginning of its sentence alone, in the language of that sentence', () => {
  const order = 'write an email to Hans'
  expect(frameOf(tokensOf(`${words(50)} ${order} ${words(60)}`))).toBeUndefined()
  expect(frameOf(tokensOf(`Teşekkürler, iyi şanslar.  ${order}`))?.agent).toBe('marketing')
  expect(frameOf(tokensOf(`${order}. Teşekkürler, iyi şanslar.`))?.agent).toBe('marketing')
  expect(frameOf(tokensOf('Is it legal? Bir şey için şu işi yapın.'))?.agent).toBe('legal')
  expect(frameOf(tokensOf('may we için bir şey şu ğ'))).toBeUndefined()
})
