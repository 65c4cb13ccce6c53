import { decimal, texts } from '../../i18n/words.ts'

/** What became of mails, why they wait, and what is wrong with how they are received. */
export const outcomeText = texts(
  {
    unclear: (count: number) => `${count} unclear`,
    failed: (count: number) => `${count} failed`,
    left_out: (count: number) => `${count} left out`,
    no_clear_answer: (answer: string) =>
      `No clear answer after the letter was handed over (${answer}).`,
    stopped_answering: (answer: string) => `The mail server stopped answering: ${answer}`,
    takes_none: (answer: string) => `The mail server does not take mail now: ${answer}`,
    no_server: 'no mail server is set any more',
    no_listmonk: 'listmonk is not set any more',
    hub_ended: 'The hub ended while this letter was on its way.',
    only_bounces:
      'Only a bounce can be taken back. This address is on the list for another reason, and stays there.',
    restored: 'It may have gone out between the backup and the restore.',
    listmonk: (fault: string) => `listmonk: ${fault}`,
    strangers: (count: number) =>
      `The list in listmonk has ${count} people who were not approved; the campaign was not started.`,
    missing: (count: number) =>
      `The list in listmonk lacks ${count} of the approved people; the campaign was not started.`,
    over_cap: (people: number, cap: number) =>
      `This portion has ${people} people, the daily cap is ${cap}. Raise it in Settings > Mail.`,
    cap_used: (cap: number) => `Today’s ${cap} mails are used; it goes on tomorrow.`,
    campaign_gone: 'The campaign is no longer in listmonk.',
    campaign_cancelled: (sent: number) => `It was cancelled in listmonk after ${sent} mails.`,
    complaints: (count: number, sent: number, share: number) =>
      `${count} of ${sent} (${decimal('en', share)} %) mails were called spam.`,
    bounces: (count: number, sent: number, share: number) =>
      `${count} of ${sent} (${decimal('en', share)} %) mails bounced for good.`,
  },
  {
    unclear: (count) => `${count} belirsiz`,
    failed: (count) => `${count} başarısız`,
    left_out: (count) => `${count} dışarıda`,
    no_clear_answer: (answer) => `Mektup verildikten sonra açık bir yanıt gelmedi (${answer}).`,
    stopped_answering: (answer) => `Posta sunucusu yanıt vermez oldu: ${answer}`,
    takes_none: (answer) => `Posta sunucusu şu anda posta almıyor: ${answer}`,
    no_server: 'artık posta sunucusu tanımlı değil',
    no_listmonk: 'artık listmonk tanımlı değil',
    hub_ended: 'Bu mektup yoldayken hub kapandı.',
    only_bounces:
      'Yalnızca geri dönen bir posta kaldırılabilir. Bu adres başka bir nedenle listede ve orada kalır.',
    restored: 'Yedek ile geri yükleme arasında gönderilmiş olabilir.',
    listmonk: (fault) => `listmonk: ${fault}`,
    strangers: (count) =>
      `listmonk’taki listede onaylanmamış ${count} kişi var; kampanya başlatılmadı.`,
    missing: (count) =>
      `listmonk’taki listede onaylananlardan ${count} kişi eksik; kampanya başlatılmadı.`,
    over_cap: (people, cap) =>
      `Bu bölümde ${people} kişi var, günlük sınır ise ${cap}. Sınırı Ayarlar > E-posta bölümünde yükseltin.`,
    cap_used: (cap) => `Bugünkü ${cap} posta kullanıldı; yarın sürer.`,
    campaign_gone: 'Kampanya artık listmonk’ta yok.',
    campaign_cancelled: (sent) => `listmonk’ta ${sent} postadan sonra iptal edildi.`,
    complaints: (count, sent, share) =>
      `${sent} postadan ${count} tanesi (%${decimal('tr', share)}) istenmeyen olarak bildirildi.`,
    bounces: (count, sent, share) =>
      `${sent} postadan ${count} tanesi (%${decimal('tr', share)}) kalıcı olarak geri döndü.`,
  },
)
