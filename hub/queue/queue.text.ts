import { texts } from '../i18n/words.ts'

/** What approving and sending will do, and why it cannot. */
export const queueText = texts(
  {
    send: {
      lead: (who: string) => `Send to ${who}`,
      list: (count: number, list: string) =>
        `Send to ${count} ${count === 1 ? 'person' : 'people'} on list ${list}`,
    },
    today: (today: number) => (today === 0 ? 'none today' : `${today} today`),
    days: (days: number) => `done in ${days} days`,
    left_out: (count: number) => `${count} skipped`,
    away: (count: number) => `${count} waiting until they are back`,
    had: (count: number) => `${count} already had it`,
    closed: (why: string) => `It was not approved, because it cannot be sent: ${why}`,
    approved_only: (why: string) => `It is approved, but not sent: ${why}`,
    all_leads: 'all leads',
    test: {
      no_address: 'Enter an address of your own for tests first, in Settings > Mail.',
      no_smtp:
        'A test needs an SMTP server of your own, because listmonk would count it. Enter one in Settings > Mail.',
      no_sender: 'The project has no sender yet. Enter one in Project > Brand.',
      not_rendered: 'Render the draft first: a test is exactly what a reader gets.',
      somebody_elses:
        'This address belongs to a lead or was written to before. Tests go to an address of your own.',
      too_often: (minutes: number) =>
        `Ten tests an hour are enough for a new sender. Try again in ${minutes} minutes.`,
      failed: (answer: string) => `The test was not sent: ${answer}`,
      unclear: (answer: string) => `The server’s answer was not clear (${answer}). It may arrive.`,
    },
  },
  {
    send: {
      lead: (who) => `${who} kişisine gönder`,
      list: (count, list) => `${list} listesindeki ${count} kişiye gönder`,
    },
    today: (today) => (today === 0 ? 'bugün hiç' : `bugün ${today}`),
    days: (days) => `${days} günde biter`,
    left_out: (count) => `${count} atlandı`,
    away: (count) => `${count} kişi dönüşünü bekliyor`,
    had: (count) => `${count} kişi zaten aldı`,
    closed: (why) => `Gönderilemeyeceği için onaylanmadı: ${why}`,
    approved_only: (why) => `Onaylandı ama gönderilmedi: ${why}`,
    all_leads: 'bütün adaylar',
    test: {
      no_address: 'Önce Ayarlar > E-posta bölümüne denemeler için kendi adresinizi girin.',
      no_smtp:
        'Deneme için kendi SMTP sunucunuz gerekir, çünkü listmonk denemeyi de sayar. Ayarlar > E-posta bölümünde tanımlayın.',
      no_sender: 'Projenin göndereni henüz yok. Proje > Marka bölümüne girin.',
      not_rendered: 'Önce taslağı hazırlayın: deneme, okurun alacağının aynısıdır.',
      somebody_elses:
        'Bu adres bir adayın ya da daha önce yazılmış. Denemeler kendi adresinize gider.',
      too_often: (minutes) =>
        `Yeni bir gönderen için saatte on deneme yeter. ${minutes} dakika sonra yeniden deneyin.`,
      failed: (answer) => `Deneme gönderilmedi: ${answer}`,
      unclear: (answer) => `Sunucunun yanıtı net değil (${answer}). Yine de ulaşabilir.`,
    },
  },
)
