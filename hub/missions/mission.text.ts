import { texts } from '../i18n/words.ts'

/** The state of a mission, and why it is waiting, failed or was cancelled. */
export const missionText = texts(
  {
    states: {
      queued: 'The mission is queued.',
      processing: 'The mission is running.',
      done: 'The mission is done.',
      failed: 'The mission failed.',
      cancelled: 'The mission was cancelled.',
    },
    cannot_cancel: 'It can no longer be cancelled.',
    cannot_retry: 'Only failed and cancelled missions can be retried.',
    tried_already: 'It is already being retried.',
    you_cancelled: 'You cancelled it.',
    no_agent: (name: string) => `There is no agent named "${name}".`,
    model_chose: 'The task’s wording was not clear enough, so the model chose.',
    by_hand: 'The agent was chosen with the task.',
    looked_at: { daily: 'It runs every day.', weekly: 'It runs every week.' },
    alert: (kind: string) => `Health alert: ${kind}.`,
    restarting: 'The hub is restarting; the mission continues afterwards.',
    interrupted: 'The hub stopped during this mission; it continues after the last finished step.',
    given_up: 'The hub stopped each time this mission ran, so it was given up. Try a smaller task.',
    fault: 'An error in the hub itself; its log has the details. Try again.',
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
    model_chose: 'Görevin metni yeterince açık değildi; ajanı model seçti.',
    by_hand: 'Ajan görevle birlikte seçildi.',
    looked_at: { daily: 'Her gün çalışır.', weekly: 'Her hafta çalışır.' },
    alert: (kind) => `Sağlık uyarısı: ${kind}.`,
    restarting: 'Hub yeniden başlatılıyor; görev ardından devam eder.',
    interrupted: 'Görev sürerken hub durdu; görev son biten adımdan sonra devam eder.',
    given_up:
      'Bu görev her çalıştığında hub durdu; görevden vazgeçildi. Daha küçük bir görevle yeniden deneyin.',
    fault: 'Hub’ın kendisinde bir hata oldu; ayrıntıları günlükte. Yeniden deneyin.',
  },
)
