import { texts } from '../../shared/texts.ts'

/** Texts that every page uses. */
export const common = texts(
  {
    cancel: 'Cancel',
    save: 'Save changes',
    saved: 'Saved',
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
    },
    not_found: {
      title: 'Burada bir şey yok',
      text: 'Böyle bir sayfa yok. Gösterdiği içerik silinmiş olabilir.',
      action: 'Bugünü aç',
    },
  },
)
