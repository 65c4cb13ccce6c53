// Shows the messages of a webpush channel (docs/channels.md) and opens what they are about.
self.addEventListener('push', (event) => {
  const { title, ...rest } = event.data.json().notification
  event.waitUntil(self.registration.showNotification(title, { ...rest, data: rest }))
})
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const { alert_id } = event.notification.data.data ?? {}
  const path = alert_id ? `./#/alerts/${alert_id}` : './#/alerts'
  event.waitUntil(self.clients.openWindow(new URL(path, self.registration.scope).href))
})
