import { texts } from '../i18n/words.ts'

/** What is said of a mission: where it stands, why it waits, failed or was cancelled. */
export const missionText = texts(
  {
    states: {
      queued: 'The mission waits for its turn.',
      processing: 'The mission is at work.',
      done: 'The mission is done.',
      failed: 'The mission has failed.',
      cancelled: 'The mission was cancelled.',
    },
    cannot_cancel: 'It cannot be cancelled any more.',
    cannot_retry: 'Only failed and cancelled ones are tried again.',
    tried_already: 'It is being tried again already.',
    you_cancelled: 'You cancelled it.',
    no_agent: (name: string) => `There is no agent "${name}".`,
    model_chose: 'The words did not tell; the model chose.',
    by_hand: 'It was given.',
    looked_at: { daily: 'It is looked at daily.', weekly: 'It is looked at weekly.' },
    alert: (kind: string) => `Health alert: ${kind}.`,
    restarting: 'The hub is being restarted; it goes on then.',
    interrupted: 'The hub ended while this ran; it goes on behind its last finished step.',
    given_up: 'The hub ended each time this ran; it was given up. Try again with a smaller task.',
    fault: 'A fault in the hub itself; its log has the details. Try again.',
  },
  {
    states: {
      queued: 'Görev sırada bekliyor.',
      processing: 'Görev sürüyor.',
      done: 'Görev bitti.',
      failed: 'Görev başarısız oldu.',
      cancelled: 'Görev iptal edildi.',
    },
    cannot_cancel: 'Artık iptal edilemez.',
    cannot_retry: 'Yalnızca başarısız olan ve iptal edilen görevler yeniden denenir.',
    tried_already: 'Zaten yeniden deneniyor.',
    you_cancelled: 'Siz iptal ettiniz.',
    no_agent: (name) => `“${name}” adında bir ajan yok.`,
    model_chose: 'Görevin sözlerinden anlaşılmadı; model seçti.',
    by_hand: 'Ajan görevle birlikte seçildi.',
    looked_at: { daily: 'Her gün gözden geçirilir.', weekly: 'Her hafta gözden geçirilir.' },
    alert: (kind) => `Sağlık uyarısı: ${kind}.`,
    restarting: 'Hub yeniden başlatılıyor; görev ardından sürer.',
    interrupted: 'Görev sürerken hub kapandı; son biten adımın ardından sürer.',
    given_up:
      'Bu görev her çalıştığında hub kapandı; görevden vazgeçildi. Daha küçük bir işle yeniden deneyin.',
    fault: 'Hub’ın kendisinde bir hata oldu; ayrıntıları günlükte. Yeniden deneyin.',
  },
)
