import { texts } from '../../i18n/words.ts'

/** Why a brand is refused, and the mail in its preview. */
export const brandText = texts(
  {
    both: 'Enter the name and the address of the sender, or neither.',
    no_list: (id: number) => `listmonk has no list ${id}. Enter the number of one of its lists.`,
    list_taken: (slug: string) =>
      `The project “${slug}” uses this list. Its subscribers would get mail of both; choose another list.`,
    dkim: {
      no_sender:
        'Enter the sender of this project first: the key is for the domain of its address.',
      no_key: (domain: string) => `There is no key for ${domain} yet. Make one first.`,
      present: (name: string) => `The record ${name} is published. Mails are signed from now on.`,
      other: (name: string) =>
        `${name} has another key. Replace that record by the one shown here; until then mails are not signed.`,
      missing: (name: string) =>
        `${name} has no such record yet. It can take hours to appear; until then mails are not signed.`,
      unknown: (name: string) =>
        `DNS did not answer about ${name}. Check again when this machine has a network.`,
      signs_anyway: 'DNS did not answer here. Mails are signed from now on, as you asked.',
    },
    sample: {
      subject: 'Your forwarding offer',
      preheader: 'This is how a mail of this project looks.',
      greeting: 'Dear Jo Martin',
      first: 'This is how a mail of this project looks: its head, its colour and its signature.',
      second: 'The footer says who sent it, why, and how to unsubscribe.',
      closing: 'Kind regards',
      offer: 'An offer in one line',
      point: 'One point of the offer',
      button: 'A button',
    },
  },
  {
    both: 'Gönderenin adını ve adresini birlikte girin ya da ikisini de boş bırakın.',
    no_list: (id) =>
      `listmonk’ta ${id} numaralı liste yok. Var olan bir listenin numarasını girin.`,
    list_taken: (slug) =>
      `Bu listeyi “${slug}” projesi kullanıyor. Aboneleri iki projeden de e-posta alırdı; başka bir liste seçin.`,
    dkim: {
      no_sender: 'Önce bu projenin gönderenini girin: anahtar, adresinin alan adı içindir.',
      no_key: (domain) => `${domain} için henüz anahtar yok. Önce bir tane oluşturun.`,
      present: (name) => `${name} kaydı yayında. E-postalar bundan sonra imzalanır.`,
      other: (name) =>
        `${name} adında başka bir anahtar var. O kaydı buradakiyle değiştirin; o zamana dek e-postalar imzalanmaz.`,
      missing: (name) =>
        `${name} adında henüz böyle bir kayıt yok. Görünmesi saatler sürebilir; o zamana dek e-postalar imzalanmaz.`,
      unknown: (name) =>
        `DNS, ${name} için yanıt vermedi. Bu makinenin ağı olduğunda yeniden denetleyin.`,
      signs_anyway: 'DNS burada yanıt vermedi. İstediğiniz gibi e-postalar bundan sonra imzalanır.',
    },
    sample: {
      subject: 'Taşıma teklifiniz',
      preheader: 'Bu projenin e-postaları böyle görünür.',
      greeting: 'Sayın Jo Martin',
      first: 'Bu projenin e-postaları böyle görünür: üst bölümü, rengi ve imzasıyla.',
      second: 'Alt bölümde kimin, neden gönderdiği ve abonelikten nasıl çıkılacağı yazar.',
      closing: 'Saygılarımla',
      offer: 'Tek satırda bir teklif',
      point: 'Teklifin bir maddesi',
      button: 'Bir düğme',
    },
  },
)
