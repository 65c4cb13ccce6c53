import { day, texts } from '../../i18n/words.ts'

/** The inbox: what holds mail back, what keeps an answer from being sent, and what is added to one. */
export const inboxText = texts(
  {
    away: (until: string) => `The reader is away. The mail waits until ${day('en', until)}.`,
    away_campaign: (until: string) =>
      `away until ${day('en', until)}: listmonk cannot wait for one reader, write again then`,
    closed: {
      no_smtp:
        'Answering needs an SMTP server of your own, because listmonk cannot put a mail into a thread. Enter one in Settings > Mail.',
      no_sender: 'The project has no sender yet. Enter one in Project > Brand.',
      paused: 'Mail is paused. Confirm it in Settings > Mail first.',
      no_address: 'This mail has no address to answer to.',
      suppressed: 'This address is on the suppression list, and gets no mail.',
      undecided: 'It may ask for no more mail. Decide that first.',
      not_a_person: 'Nobody reads answers to this mail: a program sent it.',
    },
    other_text: 'There is an answer with this id and another text. Choose a new id.',
    stopped: 'The hub stopped while this answer was being sent. Nobody knows whether it arrived.',
    not_begun: 'The hub stopped before this answer was sent. It was not sent; write it again.',
    withdrawn: 'It was not sent: the address may not get mail any more.',
    no_clear_answer: (answer: string) =>
      `The server’s answer was not clear (${answer}). Nobody knows whether the mail arrived.`,
    returned: (status: string) => `It was returned as undeliverable (${status}).`,
    refused: (answer: string) => `The mail server refused it: ${answer}`,
    wrote: (who: string, at: string) => `On ${day('en', at)}, ${who} wrote:`,
    not_open: 'This mail is not waiting for that decision.',
    another_project: 'This lead belongs to another project.',
    has_no_lead: 'The lead of this mail was deleted. Say first whose it is.',
  },
  {
    away: (until) => `Alıcı yok. E-posta ${day('tr', until)} gününe kadar bekliyor.`,
    away_campaign: (until) =>
      `${day('tr', until)} gününe kadar yok: listmonk tek bir alıcı için bekleyemez, o zaman yeniden yazın`,
    closed: {
      no_smtp:
        'Yanıtlamak için kendi SMTP sunucunuz gerekir, çünkü listmonk bir e-postayı yazışmaya ekleyemez. Ayarlar > E-posta bölümünde tanımlayın.',
      no_sender: 'Projenin göndereni henüz yok. Proje > Marka bölümüne girin.',
      paused: 'E-posta duraklatıldı. Önce Ayarlar > E-posta bölümünde onaylayın.',
      no_address: 'Bu e-postanın yanıtlanacak bir adresi yok.',
      suppressed: 'Bu adres engelleme listesinde ve e-posta almaz.',
      undecided: 'Belki artık e-posta istenmiyor. Önce buna karar verin.',
      not_a_person: 'Bu e-postaya verilen yanıtı kimse okumaz: onu bir program gönderdi.',
    },
    other_text: 'Bu kimlikle başka metinli bir yanıt var. Yeni bir kimlik seçin.',
    stopped: 'Bu yanıt gönderilirken hub durdu. Ulaşıp ulaşmadığı bilinmiyor.',
    not_begun: 'Hub, bu yanıt gönderilmeden durdu. Yanıt gönderilmedi; yeniden yazın.',
    withdrawn: 'Gönderilmedi: bu adrese artık e-posta gidemez.',
    no_clear_answer: (answer) =>
      `Sunucunun yanıtı net değil (${answer}). E-postanın ulaşıp ulaşmadığı bilinmiyor.`,
    returned: (status) => `Teslim edilemeden geri döndü (${status}).`,
    refused: (answer) => `E-posta sunucusu kabul etmedi: ${answer}`,
    wrote: (who, at) => `${who}, ${day('tr', at)} tarihinde yazdı:`,
    not_open: 'Bu e-posta böyle bir karar beklemiyor.',
    another_project: 'Bu aday başka bir projeye ait.',
    has_no_lead: 'Bu e-postanın adayı silindi. Önce kimin olduğunu belirtin.',
  },
)
