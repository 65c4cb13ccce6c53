/** The words of signed links: of the mail that asks for a confirmation, and of the pages behind the links. */
import type { Language } from '../../../shared/words/texts.ts'

/** `title` asks, `over` says that it was done: now (`done`) or before (`already`). */
type Page = {
  title: string
  text: string
  button: string
  over: string
  done: string
  already: string
}

export type LinkWords = {
  confirmation: { subject: string; text: (host: string) => string; link: string; ignore: string }
  unsubscribe: string
  pages: Record<'confirm-address' | 'acknowledge' | 'unsubscribe', Page>
  /** When and how an alert was acknowledged. Links are forwarded, so they name nobody and no other channel. */
  seen: {
    here: (at: string, channel: string) => string
    elsewhere: (at: string) => string
    account: (at: string) => string
  }
  resolved: string
  /** What stands in brackets, here and in `expired`, is linked to the alert in the console, where that is served here. */
  console: string
  invalid: { title: string; text: string }
  expired: { title: string } & Record<'confirm-address' | 'acknowledge' | 'unsubscribe', string>
  gone: { title: string; text: string }
  busy: { title: string; text: string }
}

const english: LinkWords = {
  confirmation: {
    subject: 'Confirm that you want alerts at this address',
    text: (host) =>
      `Somebody asked ${host} to send alerts of Watchpost to this address. Nothing is sent until you confirm it.`,
    link: 'Confirm the address',
    ignore:
      'The link works for 48 hours. If you did not expect this mail, ignore it: you get no alerts.',
  },
  unsubscribe: 'Stop these mails',
  pages: {
    'confirm-address': {
      title: 'Confirm your address',
      text: 'From then on Watchpost sends alerts to the address that got this link. Every mail has a link that stops them.',
      button: 'Confirm the address',
      over: 'Your address is confirmed',
      done: 'The address is confirmed. The next alerts come to it.',
      already: 'The address is confirmed already. There is nothing left to do.',
    },
    acknowledge: {
      title: 'Have you seen this alert?',
      text: 'This records that somebody who got the message has seen the alert. It does not resolve it.',
      button: 'I have seen it',
      over: 'This alert has been seen',
      done: 'It is recorded that the alert was seen.',
      already: 'Somebody has acknowledged this alert already.',
    },
    unsubscribe: {
      title: 'Stop these mails?',
      text: 'Watchpost then sends no more alerts to your address through this channel, and tells its owner.',
      button: 'Stop the mails',
      over: 'These mails are stopped',
      done: 'Done. Watchpost sends no more mail to your address through this channel.',
      already: 'This channel sends no mail to your address. There is nothing left to do.',
    },
  },
  seen: {
    here: (at, channel) => `It was acknowledged on ${at} through the channel “${channel}”.`,
    elsewhere: (at) => `It was acknowledged on ${at} through another channel.`,
    account: (at) => `It was acknowledged on ${at} by a user of Watchpost.`,
  },
  resolved: 'This alert is resolved.',
  console: 'To resolve the alert or to snooze its zone, [open it in the console].',
  invalid: {
    title: 'This link does not work',
    text: 'It is not complete, or it was changed on its way. Copy the whole link from the message.',
  },
  expired: {
    title: 'This link has expired',
    'confirm-address': 'Ask the owner of the channel to have another confirmation sent to you.',
    acknowledge: '[Open the alert in the console] to acknowledge it there.',
    unsubscribe: 'Use the link in a newer mail.',
  },
  gone: {
    title: 'This link is no longer valid',
    text: 'The channel was deleted or switched off, its address was changed, or it no longer gets these alerts.',
  },
  busy: { title: 'Too many requests', text: 'Wait a minute and load this page again.' },
}

const turkish: LinkWords = {
  confirmation: {
    subject: 'Bu adrese uyarı gönderilmesini onaylayın',
    text: (host) =>
      `${host} üzerinden bu adrese Watchpost uyarıları gönderilmesi istendi. Siz onaylamadan hiçbir uyarı gönderilmez.`,
    link: 'Adresi onayla',
    ignore:
      'Bağlantı 48 saat geçerlidir. Bu e-postayı beklemiyorsanız bir şey yapmayın; size uyarı gönderilmez.',
  },
  unsubscribe: 'Bu e-postaları durdur',
  pages: {
    'confirm-address': {
      title: 'Adresinizi onaylayın',
      text: 'Onayladığınızda Watchpost, bu bağlantının geldiği adrese uyarı gönderir. Her e-postada bunları durduran bir bağlantı bulunur.',
      button: 'Adresi onayla',
      over: 'Adresiniz onaylandı',
      done: 'Adres onaylandı. Bundan sonraki uyarılar bu adrese gelecek.',
      already: 'Adres daha önce onaylanmış. Yapılacak başka bir şey yok.',
    },
    acknowledge: {
      title: 'Bu uyarıyı gördünüz mü?',
      text: 'Bu işlem, iletiyi alan birinin uyarıyı gördüğünü kaydeder. Uyarıyı kapatmaz.',
      button: 'Gördüm',
      over: 'Bu uyarı görüldü',
      done: 'Uyarının görüldüğü kaydedildi.',
      already: 'Uyarının görüldüğü daha önce bildirilmiş.',
    },
    unsubscribe: {
      title: 'Bu e-postalar durdurulsun mu?',
      text: 'Watchpost bu kanaldan adresinize artık uyarı göndermez ve bunu kanalın sahibine bildirir.',
      button: 'E-postaları durdur',
      over: 'Bu e-postalar durduruldu',
      done: 'Tamam. Watchpost bu kanaldan adresinize artık e-posta göndermeyecek.',
      already: 'Bu kanal adresinize e-posta göndermiyor. Yapılacak başka bir şey yok.',
    },
  },
  seen: {
    here: (at, channel) => `Bildirim zamanı: ${at}. Kanal: ${channel}.`,
    elsewhere: (at) => `Bildirim zamanı: ${at}. Başka bir kanaldan bildirildi.`,
    account: (at) => `Bildirim zamanı: ${at}. Bir Watchpost kullanıcısı bildirdi.`,
  },
  resolved: 'Bu uyarı kapatılmış.',
  console: 'Uyarıyı kapatmak ya da bölgesini ertelemek için [konsolda açın].',
  invalid: {
    title: 'Bu bağlantı çalışmıyor',
    text: 'Bağlantı eksik ya da yolda değişmiş. İletideki bağlantının tamamını kopyalayın.',
  },
  expired: {
    title: 'Bu bağlantının süresi dolmuş',
    'confirm-address': 'Kanalın sahibinden size yeni bir onay e-postası göndermesini isteyin.',
    acknowledge: 'Uyarıyı gördüğünüzü bildirmek için [konsolda açın].',
    unsubscribe: 'Daha yeni bir e-postadaki bağlantıyı kullanın.',
  },
  gone: {
    title: 'Bu bağlantı artık geçerli değil',
    text: 'Kanal silinmiş ya da kapatılmış, adresi değiştirilmiş veya artık bu uyarıları almıyor.',
  },
  busy: { title: 'Çok fazla istek', text: 'Bir dakika bekleyip sayfayı yeniden yükleyin.' },
}

export const LINK_WORDS: Record<Language, LinkWords> = { en: english, tr: turkish }
