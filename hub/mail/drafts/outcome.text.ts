import { decimal, texts } from '../../i18n/words.ts'

/** What happened to sent mails, why mails are waiting, and when too many bounce or are reported. */
export const outcomeText = texts(
  {
    unclear: (count: number) => `${count} unclear`,
    failed: (count: number) => `${count} failed`,
    left_out: (count: number) => `${count} skipped`,
    no_clear_answer: (answer: string) =>
      `The mail was handed over, but the server’s answer was not clear (${answer}).`,
    stopped_answering: (answer: string) => `The mail server stopped answering: ${answer}`,
    takes_none: (answer: string) =>
      `The mail server is not accepting mail at the moment: ${answer}`,
    no_server: 'no mail server is set up any more',
    no_listmonk: 'listmonk is no longer set up',
    handed_over:
      'listmonk took this mail. It does not tell whether its mail server accepted it; its logs do.',
    counted: (sent: number, people: number) =>
      `listmonk counts ${sent} of ${people} mails as sent, and does not tell which. Its logs say why.`,
    paused_there: (sent: number, to_send: number) =>
      `listmonk paused this campaign after ${sent} of ${to_send} mails: somebody did so there, or too many mails failed. Resume or cancel it in listmonk.`,
    no_subject: 'Its subject is empty or too long with what is known of this lead.',
    stuck: (fault: string) => `The hub cannot send it and keeps trying: ${fault}`,
    hub_ended: 'The hub stopped while this mail was being sent.',
    only_bounces:
      'This address stays on the list: its owner asked for no more mail, complained, or was erased.',
    restored: 'It may have been sent between the backup and the restore.',
    listmonk: (fault: string) => `listmonk: ${fault}`,
    strangers: (count: number) =>
      `The list in listmonk contains ${count} people who were not approved. The campaign was not started.`,
    missing: (count: number) =>
      `The list in listmonk lacks ${count} of the approved people. The campaign was not started.`,
    over_cap: (people: number, cap: number) =>
      `This campaign goes to ${people} people, but the daily limit is ${cap}. Raise it in Settings > Mail.`,
    cap_used: (cap: number) =>
      `Today’s limit of ${cap} mails is reached. Sending continues tomorrow.`,
    ramp_used: (people: number, sender: string, left: number) =>
      `This campaign goes to ${people} people, and ${sender} may send ${left} more mails today. It starts on the day that has room for it.`,
    taken_off: (reason: string) =>
      `Taken off the running campaign (${reason}). listmonk does not tell whether the mail had left already.`,
    campaign_gone: 'The campaign is no longer in listmonk.',
    campaign_cancelled: (sent: number) =>
      `The campaign was cancelled in listmonk after ${sent} mails.`,
    complaints: (count: number, sent: number, share: number) =>
      `${count} of ${sent} (${decimal('en', share)} %) mails were reported as spam.`,
    bounces: (count: number, sent: number, share: number) =>
      `${count} of ${sent} (${decimal('en', share)} %) mails bounced permanently.`,
  },
  {
    unclear: (count) => `${count} belirsiz`,
    failed: (count) => `${count} başarısız`,
    left_out: (count) => `${count} atlandı`,
    no_clear_answer: (answer) => `E-posta sunucuya iletildi, ama yanıtı net değil (${answer}).`,
    stopped_answering: (answer) => `E-posta sunucusu yanıt vermeyi kesti: ${answer}`,
    takes_none: (answer) => `E-posta sunucusu şu anda e-posta kabul etmiyor: ${answer}`,
    no_server: 'artık e-posta sunucusu tanımlı değil',
    no_listmonk: 'artık listmonk tanımlı değil',
    handed_over:
      'listmonk bu e-postayı aldı. E-posta sunucusunun kabul edip etmediğini bildirmez; bunu günlükleri gösterir.',
    counted: (sent, people) =>
      `listmonk ${people} e-postadan ${sent} tanesini gönderilmiş sayıyor ve hangileri olduğunu bildirmiyor. Nedeni günlüklerindedir.`,
    paused_there: (sent, to_send) =>
      `listmonk bu kampanyayı ${to_send} e-postadan ${sent} tanesinin ardından duraklattı: biri orada duraklattı ya da çok fazla e-posta gönderilemedi. Kampanyayı listmonk’ta sürdürün veya iptal edin.`,
    no_subject: 'Bu kişi hakkında bilinenlerle konusu boş ya da çok uzun.',
    stuck: (fault) => `Hub bunu gönderemiyor, denemeyi sürdürüyor: ${fault}`,
    hub_ended: 'Bu e-posta gönderilirken hub durdu.',
    only_bounces:
      'Bu adres listede kalır: sahibi artık e-posta istemedi, şikâyet etti ya da silindi.',
    restored: 'Yedek ile geri yükleme arasında gönderilmiş olabilir.',
    listmonk: (fault) => `listmonk: ${fault}`,
    strangers: (count) =>
      `listmonk’taki listede onaylanmamış ${count} kişi var; kampanya başlatılmadı.`,
    missing: (count) =>
      `listmonk’taki listede onaylananlardan ${count} kişi eksik; kampanya başlatılmadı.`,
    over_cap: (people, cap) =>
      `Bu kampanya ${people} kişiye gidiyor, günlük sınır ise ${cap}. Sınırı Ayarlar > E-posta bölümünde yükseltin.`,
    cap_used: (cap) => `Bugünkü ${cap} e-posta sınırına ulaşıldı. Gönderim yarın devam eder.`,
    ramp_used: (people, sender, left) =>
      `Bu kampanya ${people} kişiye gidiyor, ${sender} ise bugün ${left} e-posta daha gönderebilir. Yer olan ilk gün başlar.`,
    taken_off: (reason) =>
      `Süren kampanyadan çıkarıldı (${reason}). listmonk, e-postanın daha önce gidip gitmediğini bildirmez.`,
    campaign_gone: 'Kampanya artık listmonk’ta yok.',
    campaign_cancelled: (sent) => `Kampanya listmonk’ta ${sent} e-postadan sonra iptal edildi.`,
    complaints: (count, sent, share) =>
      `${sent} e-postadan ${count} tanesi (%${decimal('tr', share)}) istenmeyen olarak bildirildi.`,
    bounces: (count, sent, share) =>
      `${sent} e-postadan ${count} tanesi (%${decimal('tr', share)}) kalıcı olarak geri döndü.`,
  },
)
