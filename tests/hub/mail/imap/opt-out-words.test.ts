import { expect, test } from 'vitest'
import { asksToStop } from '../../../../hub/mail/imap/opt-out-words.ts'
import { withoutMail } from '../../../../hub/mail/imap/reply.ts'

test.each([
  'Unsubscribe',
  'UNSUBSCRIBE!',
  'unsubscribe please',
  'Please unsubscribe me.',
  'Hi Ayşe,\n\nPlease remove me from your mailing list.\n\nThanks,\nJo Doe',
  'Take me off your list',
  'Could you please remove me from your list?',
  'OK, can you remove me from your list?',
  'No thanks, can you remove me?',
  'No thank you, could you please take me off your list?',
  'Stop emailing me.',
  'Please don’t contact us again.',
  'Do not send me any more emails.',
  'No more mails please',
  'I would like to opt out.',
  'I opt out of your mailing list',
  'Please remove us.',
  'Stop sending me emails.',
  'Stop these emails!',
  'I no longer wish to receive your newsletter.',
  'Re:  unsubscribe',
  '*** Unsubscribe! ***',
  'Please   remove\tme.',
  'Please remove   me.',
  'I’d like to unsubscribe.',
  'Selam,\nÇıkarın.',
  'Unsubscribe!!!',
  'Unsubscribe me. Stop emailing me.',
  'Unsubscribe me.\nStop emailing me.\nJo',
  'Çıkarın.\nsaygılar',
  'Unsubscribe me.\n  Jo',
  'Selamlar,\nÇıkarın.',
  'Unsubscribe.  \n\n\n  Thanks!',
  'Please unsubscribe me.\n\nJo\n \n',
  'Beni listenizden çıkarır mısın?',
  'Çıkarın',
  'ÇIKARIN LÜTFEN',
  'Merhaba,\n\nLütfen beni listenizden çıkarın.\n\nİyi çalışmalar,\nAli Yılmaz',
  'Beni bu listeden çıkarır mısınız?',
  'Bir daha yazmayın.',
  'Yazmayın',
  'Bana bir daha mail atmayın lütfen.',
  'Lütfen e-posta göndermeyin',
  'Artık mail almak istemiyorum.',
  'Abonelikten çıkmak istiyorum',
  'Aboneliğimi iptal edin.',
  'Bizi rahatsız etmeyin!',
  'E-posta adresimi silin.',
])('asks for no more mail: %s', (text) => {
  expect(asksToStop('Re: Freight', text)).toBe('yes')
})

test.each([
  'Please do not write to me before Tuesday.',
  'Don’t stop emailing me.',
  'Unsubscribe?',
  'OK, can you tell me how you remove me?',
  'Unsubscribe?\nJo',
  'Unsubscribe re: me',
  'Thanks for the prices of May\nUnsubscribe',
  'Send the prices, many thanks\nUnsubscribe',
  'Unsubscribe\nJo Ann van Doe',
  'Unsubscribe\nAnn Bo Cy Di',
  'Unsubscribe\nand call me',
  'Unsubscribe me.\nYour prices are too high.\nJo',
  'No thanks, unsubscribe?',
  'Unsubscribe me: Jo said',
  'How do your customers unsubscribe?',
  'If you cannot send prices, unsubscribe me.',
  'Please remove me from the CC and write to Bo instead.',
  'Our client said: "Unsubscribe me." How do you handle that?',
  'Your competitor’s footer says:\nUnsubscribe\nNice, is it not?',
  'Stop emailing me. Just kidding, call me on Tuesday!',
  'We do not want mails from agencies but yours is welcome.',
  'Listenizden birini çıkarın, gerisi uygun.',
  'Salıdan önce yazmayın.',
  'Fiyat listenizden birini seçtik, abonelik var mı?',
  'Mail atmayın, telefonla arayın.',
  'Silin demedim, düzeltin dedim.',
  'Bunu istemiyorum, ötekini gönderin.',
  'Your GDPR notice is missing.',
])('a person decides: %s', (text) => {
  expect(asksToStop('Re: Freight', text)).toBe('open')
})

test.each([
  'Yes, Tuesday at ten.',
  'We have 42 trucks and stop at Izmir.',
  'Not interested, thanks.',
  'Fiyat listenizi gönderin.',
  'Salı günü yazın, çıkıp bakarız.',
  'Araçlarımız her gün İzmir’e çıkar.',
])('is an ordinary reply: %s', (text) => {
  expect(asksToStop('Re: Freight', text)).toBe('no')
})

test('the subject alone asks, and a subject above other words is for a person', () => {
  expect(asksToStop('Unsubscribe', null)).toBe('yes')
  expect(asksToStop('Re: Unsubscribe', 'Thanks')).toBe('yes')
  expect(asksToStop('Re:unsubscribe', null)).toBe('yes')
  expect(asksToStop('unsubscribe', 'Call me on Tuesday.')).toBe('open')
  expect(asksToStop('unsubscribe', 'Jo')).toBe('open')
  expect(asksToStop('Re: Freight', 'Jo')).toBe('no')
  expect(asksToStop('How to unsubscribe buyers', null)).toBe('no')
})

const MAIL =
  'Hello Jo,\n\nWe carry freight from Izmir to Hamburg.\n\nDemir, Liman 1, Izmir\n\nUnsubscribe <{unsubscribe_url}>'
const SENT = MAIL.replace('{unsubscribe_url}', 'https://hub.example/api/cockpit/u/abc')

test('our own footer below a reply asks for nothing', () => {
  const said = withoutMail(`Tuesday is fine.\n\n${SENT}`, MAIL)
  expect(said).toBe('Tuesday is fine.')
  expect(asksToStop('Re: Freight', said)).toBe('no')
  const bare = SENT.replace(/ <https.*>/, '')
  expect(withoutMail(`Evet.\n\n${bare}`, MAIL)).toBe('Evet.')
})

test('the same word above our mail, or alone, is the person’s own', () => {
  expect(withoutMail('Unsubscribe', MAIL)).toBe('Unsubscribe')
  const said = withoutMail(`Unsubscribe\n\nWe carry freight from Izmir to Hamburg.\n${SENT}`, MAIL)
  expect(said).toBe('Unsubscribe')
})
