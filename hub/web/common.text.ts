import { texts } from '../../shared/words/texts.ts'

/** Texts that every page uses. */
export const common = texts(
  {
    cancel: 'Cancel',
    save: 'Save changes',
    saved: 'Saved',
    limits: {
      up_to: (limit: string) => `Up to ${limit} characters`,
      left: (left: string, limit: string) => `${left} of ${limit} characters left`,
      over: (over: string, limit: string) =>
        `${over} characters too many: at most ${limit}. Shorten the text.`,
    },
    writing: {
      fields: {
        value_proposition: 'Value proposition',
        tone: 'Tone of voice',
        proof_points: 'Proof points',
        offers: 'Offers',
      },
      hints: {
        value_proposition: 'What the customer gets from you and nobody else.',
        tone: 'How mails should sound, e.g. warm, short, formal.',
        proof_points: 'References, figures, certificates: one in a line. Mails may say only these.',
        offers: 'What a mail may offer, with its conditions: one in a line.',
      },
    },
    back: 'Back',
    skip: 'Skip for now',
    next: 'Continue',
    delete: 'Delete',
    edit: 'Edit',
    more_actions: 'More actions',
    failed: {
      title: 'Could not be loaded',
      unreachable: 'The hub does not answer. This page keeps trying.',
      unknown: 'Something went wrong on this page. Reload it.',
    },
    connection: {
      lost: 'The hub does not answer. Reconnecting; what you see may be out of date.',
      restarting: 'The hub is restarting. This page reconnects by itself.',
      back: 'The hub is running again.',
    },
    read_only: {
      text: 'Only the read-only database key is configured, so nothing can be changed.',
      action: 'Paste the service key',
      role: 'Your role is Reader: you can read everything here, and change nothing. An admin can give you the role Seller.',
    },
    only_admin: {
      title: 'Only an admin can change this',
      text: 'Ask an admin of this hub, or ask for the role Admin.',
    },
    not_found: {
      title: 'There is nothing here',
      text: 'This page does not exist. What it showed may have been deleted.',
      action: 'Open Today',
    },
  },
  {
    cancel: 'Vazgeç',
    save: 'Değişiklikleri kaydet',
    saved: 'Kaydedildi',
    limits: {
      up_to: (limit) => `En çok ${limit} karakter`,
      left: (left, limit) => `${limit} karakterin ${left} karakteri kaldı`,
      over: (over, limit) => `${over} karakter fazla: en çok ${limit}. Metni kısaltın.`,
    },
    writing: {
      fields: {
        value_proposition: 'Değer önerisi',
        tone: 'Üslup',
        proof_points: 'Kanıtlar',
        offers: 'Teklifler',
      },
      hints: {
        value_proposition: 'Müşterinin yalnızca sizden alabildiği şey.',
        tone: 'E-postaların üslubu; örneğin sıcak, kısa, resmî.',
        proof_points:
          'Referanslar, rakamlar, belgeler: her satıra bir tane. E-postalar yalnızca bunları söyler.',
        offers: 'Bir e-postanın önerebileceği şeyler, koşullarıyla: her satıra bir tane.',
      },
    },
    back: 'Geri',
    skip: 'Şimdilik atla',
    next: 'Devam et',
    delete: 'Sil',
    edit: 'Düzenle',
    more_actions: 'Diğer işlemler',
    failed: {
      title: 'Bu bölüm yüklenemedi',
      unreachable: 'Hub yanıt vermiyor. Sayfa denemeyi sürdürüyor.',
      unknown: 'Bu sayfada bir sorun oluştu. Sayfayı yenileyin.',
    },
    connection: {
      lost: 'Hub yanıt vermiyor. Yeniden bağlanılıyor; gördükleriniz güncel olmayabilir.',
      restarting: 'Hub yeniden başlıyor. Sayfa kendiliğinden bağlanacak.',
      back: 'Hub yeniden çalışıyor.',
    },
    read_only: {
      text: 'Yalnızca salt okunur veritabanı anahtarı tanımlı; hiçbir şey değiştirilemez.',
      action: 'Servis anahtarını yapıştır',
      role: 'Rolünüz Okuyucu: buradaki her şeyi okuyabilir, hiçbir şeyi değiştiremezsiniz. Bir yönetici size Satışçı rolünü verebilir.',
    },
    only_admin: {
      title: 'Bunu yalnızca bir yönetici değiştirebilir',
      text: 'Bu hub’ın bir yöneticisine başvurun ya da Yönetici rolünü isteyin.',
    },
    not_found: {
      title: 'Burada bir şey yok',
      text: 'Böyle bir sayfa yok. Gösterdiği içerik silinmiş olabilir.',
      action: 'Bugünü aç',
    },
  },
)
