export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[]

export type Database = {
  support: {
    Tables: {
      [_ in never]: never
    }
    Views: {
      accounts: {
        Row: {
          banned_until: string | null
          channels: number | null
          email: string
          keys: number | null
          last_used_at: string | null
          organisations: string | null
          plan: string
          signed_up_at: string
          user_id: string
          zones: number | null
        }
        ComputedFields: never
        Insert: {
          banned_until?: string | null
          channels?: never
          email?: string | null
          keys?: never
          last_used_at?: never
          organisations?: never
          plan?: string | null
          signed_up_at?: string | null
          user_id?: string | null
          zones?: never
        }
        Update: {
          banned_until?: string | null
          channels?: never
          email?: string | null
          keys?: never
          last_used_at?: never
          organisations?: never
          plan?: string | null
          signed_up_at?: string | null
          user_id?: string | null
          zones?: never
        }
        Relationships: []
      }
      alerts_today: {
        Row: {
          delivered: number | null
          dispatched_at: string | null
          event: string | null
          event_id: string
          failed: number | null
          held_until: string | null
          id: string
          org_id: string | null
          organisation: string | null
          owner: string
          owner_id: string
          raised_at: string
          reason: string
          resolved: boolean
          severity: number
          status: string
          waiting: number | null
          zone: string
          zone_id: string
        }
        ComputedFields: never
        Relationships: [
          {
            foreignKeyName: 'alerts_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'alerts_owner_id_fkey'
            columns: ['owner_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
          {
            foreignKeyName: 'alerts_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      api_keys: {
        Row: {
          created_at: string
          email: string
          expires_at: string | null
          id: string
          last_used_at: string | null
          name: string
          prefix: string
          revoked_at: string | null
          scopes: string[]
          state: string | null
          user_id: string
        }
        ComputedFields: never
        Relationships: [
          {
            foreignKeyName: 'api_keys_user_id_fkey'
            columns: ['user_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      audit: {
        Row: {
          account: string | null
          account_id: string
          action: string
          actor: string | null
          actor_id: string | null
          at: string
          details: NonNullable<Json>
          id: string
          ip: string | null
          key: string | null
          key_id: string | null
          outcome: string
          request_id: string | null
          target_id: string | null
          target_type: string
          user_agent: string | null
        }
        ComputedFields: never
        Relationships: []
      }
      channels: {
        Row: {
          config: Json | null
          created_at: string
          deleted_at: string | null
          disabled_reason: string | null
          failures: number
          id: string
          kind: string
          label: string | null
          last_delivered_at: string | null
          org_id: string | null
          organisation: string | null
          owner: string
          owner_id: string
          paused_until: string | null
          state: string | null
          target: string
          updated_at: string
        }
        ComputedFields: never
        Relationships: [
          {
            foreignKeyName: 'channels_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'channels_owner_id_fkey'
            columns: ['owner_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      dead_letters: {
        Row: {
          data: Json | null
          died_at: string
          enqueued_at: string | null
          error: string | null
          id: string
          queue: string | null
          retries: number | null
        }
        ComputedFields: never
        Insert: {
          data?: Json | null
          died_at?: string | null
          enqueued_at?: string | null
          error?: never
          id?: string | null
          queue?: string | null
          retries?: number | null
        }
        Update: {
          data?: Json | null
          died_at?: string | null
          enqueued_at?: string | null
          error?: never
          id?: string | null
          queue?: string | null
          retries?: number | null
        }
        Relationships: []
      }
      deliveries_failing: {
        Row: {
          alert_id: string | null
          attempts: number
          channel: string | null
          channel_id: string
          created_at: string
          id: string
          kind: string
          last_error: string | null
          next_attempt_at: string | null
          owner: string
          status: string
          target: string
          type: string
          updated_at: string
          zone: string | null
        }
        ComputedFields: never
        Relationships: [
          {
            foreignKeyName: 'deliveries_alert_id_fkey'
            columns: ['alert_id']
            isOneToOne: false
            referencedRelation: 'alerts_today'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'deliveries_channel_id_fkey'
            columns: ['channel_id']
            isOneToOne: false
            referencedRelation: 'channels'
            referencedColumns: ['id']
          },
        ]
      }
      feeds: {
        Row: {
          enabled: boolean
          error: string | null
          error_at: string | null
          events_24h: number | null
          interval_seconds: number
          last_event_at: string | null
          last_success_at: string | null
          next_poll_at: string
          paused_at: string | null
          paused_reason: string | null
          source: string
          state: string | null
          title: string
          types: string[]
        }
        ComputedFields: never
        Insert: {
          enabled?: boolean | null
          error?: string | null
          error_at?: string | null
          events_24h?: never
          interval_seconds?: number | null
          last_event_at?: string | null
          last_success_at?: string | null
          next_poll_at?: string | null
          paused_at?: string | null
          paused_reason?: string | null
          source?: string | null
          state?: never
          title?: string | null
          types?: string[] | null
        }
        Update: {
          enabled?: boolean | null
          error?: string | null
          error_at?: string | null
          events_24h?: never
          interval_seconds?: number | null
          last_event_at?: string | null
          last_success_at?: string | null
          next_poll_at?: string | null
          paused_at?: string | null
          paused_reason?: string | null
          source?: string | null
          state?: never
          title?: string | null
          types?: string[] | null
        }
        Relationships: []
      }
      members: {
        Row: {
          created_at: string
          email: string
          id: string
          invite_expires_at: string | null
          invited_by: string | null
          joined_at: string | null
          org_id: string
          organisation: string
          role: string
          state: string | null
          user_id: string | null
        }
        ComputedFields: never
        Relationships: [
          {
            foreignKeyName: 'members_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'members_user_id_fkey'
            columns: ['user_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      operator_acts: {
        Row: {
          action: string
          at: string
          details: NonNullable<Json>
          id: string
          operator: string
          target_id: string | null
          target_type: string
          via: string
        }
        ComputedFields: never
        Insert: {
          action?: string | null
          at?: string | null
          details?: Json | null
          id?: string | null
          operator?: string | null
          target_id?: string | null
          target_type?: string | null
          via?: string | null
        }
        Update: {
          action?: string | null
          at?: string | null
          details?: Json | null
          id?: string | null
          operator?: string | null
          target_id?: string | null
          target_type?: string | null
          via?: string | null
        }
        Relationships: []
      }
      organisations: {
        Row: {
          channels: number | null
          created_at: string
          id: string
          invited: number | null
          members: number | null
          name: string
          owner: string | null
          zones: number | null
        }
        ComputedFields: never
        Insert: {
          channels?: never
          created_at?: string | null
          id?: string | null
          invited?: never
          members?: never
          name?: string | null
          owner?: never
          zones?: never
        }
        Update: {
          channels?: never
          created_at?: string | null
          id?: string | null
          invited?: never
          members?: never
          name?: string | null
          owner?: never
          zones?: never
        }
        Relationships: []
      }
      plans: {
        Row: {
          accounts: number | null
          channels: number | null
          keys: number | null
          may_call: boolean | null
          members: number | null
          plan: string | null
          zones: number | null
        }
        ComputedFields: never
        Relationships: []
      }
      queue: {
        Row: {
          later: number | null
          oldest: string | null
          queue: string
          retrying: number | null
          running: number | null
          waiting: number | null
        }
        ComputedFields: never
        Relationships: []
      }
      zones: {
        Row: {
          aftershock_gap: number | null
          channels: number | null
          created_at: string
          deleted_at: string | null
          dwell_minutes: number
          emergency_severity: number | null
          external_id: string | null
          id: string
          label: string
          last_alert_at: string | null
          lat: number
          lon: number
          max_alerts_per_hour: number | null
          min_severity: number
          org_id: string | null
          organisation: string | null
          owner: string
          owner_id: string
          quiet_hours: string | null
          radius_km: number
          severity_multiplier: number
          shape_type: string
          snoozed_until: string | null
          sources: string[] | null
          state: string | null
          types: string[] | null
          updated_at: string
        }
        ComputedFields: never
        Relationships: [
          {
            foreignKeyName: 'zones_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'zones_owner_id_fkey'
            columns: ['owner_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
    }
    Functions: {
      [_ in never]: never
    }
    Enums: {
      [_ in never]: never
    }
    CompositeTypes: {
      [_ in never]: never
    }
  }
  watchpost: {
    Tables: {
      account_states: {
        Row: {
          banned_until: string | null
          org_ids: string[]
          plan: string
          user_id: string
          valid_from: string
        }
        ComputedFields: never
        Insert: {
          banned_until?: string | null
          org_ids: string[]
          plan: string
          user_id: string
          valid_from?: string
        }
        Update: {
          banned_until?: string | null
          org_ids?: string[]
          plan?: string
          user_id?: string
          valid_from?: string
        }
        Relationships: []
      }
      accounts: {
        Row: {
          banned_until: string | null
          confirmed_at: string | null
          created_at: string
          email: string
          plan: string
          updated_at: string
          user_id: string
        }
        ComputedFields: never
        Insert: {
          banned_until?: string | null
          confirmed_at?: string | null
          created_at?: string
          email: string
          plan?: string
          updated_at?: string
          user_id: string
        }
        Update: {
          banned_until?: string | null
          confirmed_at?: string | null
          created_at?: string
          email?: string
          plan?: string
          updated_at?: string
          user_id?: string
        }
        Relationships: []
      }
      alert_events: {
        Row: {
          added_at: string
          alert_id: string
          checks: NonNullable<Json>
          event: NonNullable<Json>
          event_id: string
          event_revision: number
          link: Json | null
          reason: string
          source: string
          zone_id: string
          zone_version: number
        }
        ComputedFields: never
        Insert: {
          added_at: string
          alert_id: string
          checks: NonNullable<Json>
          event: NonNullable<Json>
          event_id: string
          event_revision: number
          link?: Json | null
          reason: string
          source: string
          zone_id: string
          zone_version: number
        }
        Update: {
          added_at?: string
          alert_id?: string
          checks?: NonNullable<Json>
          event?: NonNullable<Json>
          event_id?: string
          event_revision?: number
          link?: Json | null
          reason?: string
          source?: string
          zone_id?: string
          zone_version?: number
        }
        Relationships: [
          {
            foreignKeyName: 'alert_events_alert_id_fkey'
            columns: ['alert_id']
            isOneToOne: false
            referencedRelation: 'alerts'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'alert_events_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      alert_steps: {
        Row: {
          after_minutes: number
          alert_id: string
          began_at: string
          channels: NonNullable<Json>
          due_at: string
          reason: string | null
          round: number
          settled_at: string | null
          status: string
          step: number
        }
        ComputedFields: never
        Insert: {
          after_minutes: number
          alert_id: string
          began_at: string
          channels?: NonNullable<Json>
          due_at: string
          reason?: string | null
          round: number
          settled_at?: string | null
          status?: string
          step: number
        }
        Update: {
          after_minutes?: number
          alert_id?: string
          began_at?: string
          channels?: NonNullable<Json>
          due_at?: string
          reason?: string | null
          round?: number
          settled_at?: string | null
          status?: string
          step?: number
        }
        Relationships: [
          {
            foreignKeyName: 'alert_steps_alert_id_fkey'
            columns: ['alert_id']
            isOneToOne: false
            referencedRelation: 'alerts'
            referencedColumns: ['id']
          },
        ]
      }
      alerts: {
        Row: {
          changed_in: unknown
          checks: NonNullable<Json>
          created_at: string
          current: Json | null
          dispatched_at: string | null
          drill_id: string | null
          event: NonNullable<Json>
          event_id: string
          event_revision: number
          first_reason: string
          held_until: string | null
          id: string
          news: Json | null
          note: string | null
          org_id: string | null
          owner_id: string
          raised_at: string
          reason: string
          resolved: boolean
          resolved_at: string | null
          resolved_by: string | null
          resolved_via: string | null
          seen_at: string | null
          seen_by: string | null
          seen_channel_id: string | null
          seen_via: string | null
          severity: number
          source: string
          status: string
          subject: string | null
          tenant_id: string | null
          updated_at: string
          updates: NonNullable<Json>
          zone_id: string
          zone_name: string
          zone_version: number
        }
        ComputedFields: never
        Insert: {
          changed_in?: unknown
          checks: NonNullable<Json>
          created_at?: string
          current?: Json | null
          dispatched_at?: string | null
          drill_id?: string | null
          event: NonNullable<Json>
          event_id: string
          event_revision: number
          first_reason: string
          held_until?: string | null
          id?: string
          news?: Json | null
          note?: string | null
          org_id?: string | null
          owner_id: string
          raised_at: string
          reason: string
          resolved?: boolean
          resolved_at?: string | null
          resolved_by?: string | null
          resolved_via?: string | null
          seen_at?: string | null
          seen_by?: string | null
          seen_channel_id?: string | null
          seen_via?: string | null
          severity: number
          source: string
          status: string
          subject?: string | null
          tenant_id?: never
          updated_at?: string
          updates?: NonNullable<Json>
          zone_id: string
          zone_name: string
          zone_version: number
        }
        Update: {
          changed_in?: unknown
          checks?: NonNullable<Json>
          created_at?: string
          current?: Json | null
          dispatched_at?: string | null
          drill_id?: string | null
          event?: NonNullable<Json>
          event_id?: string
          event_revision?: number
          first_reason?: string
          held_until?: string | null
          id?: string
          news?: Json | null
          note?: string | null
          org_id?: string | null
          owner_id?: string
          raised_at?: string
          reason?: string
          resolved?: boolean
          resolved_at?: string | null
          resolved_by?: string | null
          resolved_via?: string | null
          seen_at?: string | null
          seen_by?: string | null
          seen_channel_id?: string | null
          seen_via?: string | null
          severity?: number
          source?: string
          status?: string
          subject?: string | null
          tenant_id?: never
          updated_at?: string
          updates?: NonNullable<Json>
          zone_id?: string
          zone_name?: string
          zone_version?: number
        }
        Relationships: [
          {
            foreignKeyName: 'alerts_drill_id_fkey'
            columns: ['drill_id']
            isOneToOne: false
            referencedRelation: 'drills'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'alerts_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'alerts_owner_id_fkey'
            columns: ['owner_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
          {
            foreignKeyName: 'alerts_resolved_by_fkey'
            columns: ['resolved_by']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
          {
            foreignKeyName: 'alerts_seen_by_fkey'
            columns: ['seen_by']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
          {
            foreignKeyName: 'alerts_seen_channel_id_fkey'
            columns: ['seen_channel_id']
            isOneToOne: false
            referencedRelation: 'channels'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'alerts_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      api_keys: {
        Row: {
          created_at: string
          expires_at: string | null
          id: string
          key_hash: string
          name: string
          prefix: string
          revoked_at: string | null
          scopes: string[]
          user_id: string
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          expires_at?: string | null
          id?: string
          key_hash: string
          name?: string
          prefix: string
          revoked_at?: string | null
          scopes: string[]
          user_id: string
        }
        Update: {
          created_at?: string
          expires_at?: string | null
          id?: string
          key_hash?: string
          name?: string
          prefix?: string
          revoked_at?: string | null
          scopes?: string[]
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'api_keys_user_id_fkey'
            columns: ['user_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      audit: {
        Row: {
          account_id: string
          action: string
          actor_id: string | null
          at: string
          details: NonNullable<Json>
          id: string
          ip: string | null
          key_id: string | null
          outcome: string
          request_id: string | null
          seq: number
          target_id: string | null
          target_type: string
          user_agent: string | null
          xid: unknown
        }
        ComputedFields: never
        Insert: {
          account_id: string
          action: string
          actor_id?: string | null
          at?: string
          details?: NonNullable<Json>
          id?: string
          ip?: string | null
          key_id?: string | null
          outcome?: string
          request_id?: string | null
          seq?: never
          target_id?: string | null
          target_type: string
          user_agent?: string | null
          xid?: unknown
        }
        Update: {
          account_id?: string
          action?: string
          actor_id?: string | null
          at?: string
          details?: NonNullable<Json>
          id?: string
          ip?: string | null
          key_id?: string | null
          outcome?: string
          request_id?: string | null
          seq?: never
          target_id?: string | null
          target_type?: string
          user_agent?: string | null
          xid?: unknown
        }
        Relationships: []
      }
      batches: {
        Row: {
          created_at: string
          decisive: string[]
          id: string
          matched_at: string | null
          matched_to: string | null
          seq: number
          size: number
          source: string
          trace: string | null
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          decisive?: string[]
          id?: string
          matched_at?: string | null
          matched_to?: string | null
          seq?: never
          size: number
          source: string
          trace?: string | null
        }
        Update: {
          created_at?: string
          decisive?: string[]
          id?: string
          matched_at?: string | null
          matched_to?: string | null
          seq?: never
          size?: number
          source?: string
          trace?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'batches_source_fkey'
            columns: ['source']
            isOneToOne: false
            referencedRelation: 'sources'
            referencedColumns: ['source']
          },
        ]
      }
      blind_zones: {
        Row: {
          blindness_id: string
          channel_id: string
          zone_id: string
        }
        ComputedFields: never
        Insert: {
          blindness_id: string
          channel_id: string
          zone_id: string
        }
        Update: {
          blindness_id?: string
          channel_id?: string
          zone_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'blind_zones_blindness_id_fkey'
            columns: ['blindness_id']
            isOneToOne: false
            referencedRelation: 'blindness'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'blind_zones_channel_id_fkey'
            columns: ['channel_id']
            isOneToOne: false
            referencedRelation: 'channels'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'blind_zones_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      blindness: {
        Row: {
          began_at: string
          cause: Json | null
          ended_at: string | null
          id: string
          reason: string
          seen_at: string
          source: string
          status: string
          told_at: string | null
          well_at: string | null
        }
        ComputedFields: never
        Insert: {
          began_at?: string
          cause?: Json | null
          ended_at?: string | null
          id?: string
          reason: string
          seen_at?: string
          source: string
          status: string
          told_at?: string | null
          well_at?: string | null
        }
        Update: {
          began_at?: string
          cause?: Json | null
          ended_at?: string | null
          id?: string
          reason?: string
          seen_at?: string
          source?: string
          status?: string
          told_at?: string | null
          well_at?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'blindness_source_fkey'
            columns: ['source']
            isOneToOne: false
            referencedRelation: 'sources'
            referencedColumns: ['source']
          },
        ]
      }
      change_history: {
        Row: {
          epoch: string
          is_only: boolean
          purged_in: unknown
          seen_in: unknown
        }
        ComputedFields: never
        Insert: {
          epoch?: string
          is_only?: boolean
          purged_in?: unknown
          seen_in?: unknown
        }
        Update: {
          epoch?: string
          is_only?: boolean
          purged_in?: unknown
          seen_in?: unknown
        }
        Relationships: []
      }
      channel_troubles: {
        Row: {
          began_at: string
          channel_id: string
          ended_at: string | null
          id: string
          reason: string
          status: string
          told_at: string | null
          told_through: string | null
          well_at: string | null
        }
        ComputedFields: never
        Insert: {
          began_at: string
          channel_id: string
          ended_at?: string | null
          id?: string
          reason: string
          status: string
          told_at?: string | null
          told_through?: string | null
          well_at?: string | null
        }
        Update: {
          began_at?: string
          channel_id?: string
          ended_at?: string | null
          id?: string
          reason?: string
          status?: string
          told_at?: string | null
          told_through?: string | null
          well_at?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'channel_troubles_channel_id_fkey'
            columns: ['channel_id']
            isOneToOne: false
            referencedRelation: 'channels'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'channel_troubles_told_through_fkey'
            columns: ['told_through']
            isOneToOne: false
            referencedRelation: 'channels'
            referencedColumns: ['id']
          },
        ]
      }
      channels: {
        Row: {
          config_masked: Json | null
          config_sealed: string | null
          confirmation_id: string | null
          confirmed_at: string | null
          created_at: string
          deleted_at: string | null
          disabled_reason: string | null
          enabled: boolean
          failing_reason: string | null
          failing_since: string | null
          failures: number
          former_secrets_sealed: NonNullable<Json>
          host: string | null
          id: string
          kind: string
          label: string | null
          language: string
          messages: string[] | null
          org_id: string | null
          owner_id: string
          paused_until: string | null
          signing_secret_sealed: string | null
          status: string
          target_masked: string
          target_sealed: string
          tenant_id: string | null
          time_zone: string
          updated_at: string
        }
        ComputedFields: never
        Insert: {
          config_masked?: Json | null
          config_sealed?: string | null
          confirmation_id?: string | null
          confirmed_at?: string | null
          created_at?: string
          deleted_at?: string | null
          disabled_reason?: string | null
          enabled?: boolean
          failing_reason?: string | null
          failing_since?: string | null
          failures?: number
          former_secrets_sealed?: NonNullable<Json>
          host?: string | null
          id?: string
          kind: string
          label?: string | null
          language?: string
          messages?: string[] | null
          org_id?: string | null
          owner_id?: string
          paused_until?: string | null
          signing_secret_sealed?: string | null
          status?: string
          target_masked: string
          target_sealed: string
          tenant_id?: never
          time_zone?: string
          updated_at?: string
        }
        Update: {
          config_masked?: Json | null
          config_sealed?: string | null
          confirmation_id?: string | null
          confirmed_at?: string | null
          created_at?: string
          deleted_at?: string | null
          disabled_reason?: string | null
          enabled?: boolean
          failing_reason?: string | null
          failing_since?: string | null
          failures?: number
          former_secrets_sealed?: NonNullable<Json>
          host?: string | null
          id?: string
          kind?: string
          label?: string | null
          language?: string
          messages?: string[] | null
          org_id?: string | null
          owner_id?: string
          paused_until?: string | null
          signing_secret_sealed?: string | null
          status?: string
          target_masked?: string
          target_sealed?: string
          tenant_id?: never
          time_zone?: string
          updated_at?: string
        }
        Relationships: [
          {
            foreignKeyName: 'channels_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'channels_owner_id_fkey'
            columns: ['owner_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      deliveries: {
        Row: {
          act: number
          alert_id: string | null
          attempts: number
          blindness_id: string | null
          channel_id: string
          created_at: string
          delivered_at: string | null
          digest_id: string | null
          due_at: string
          expires_at: string | null
          first_attempt_at: string | null
          id: string
          last_error: string | null
          next_attempt_at: string | null
          payload: string | null
          redelivery_of: string | null
          remote_ref: string | null
          sequence: number
          status: string
          step: Json | null
          trace: string | null
          trouble_id: string | null
          turn_at: string | null
          type: string
          updated_at: string
        }
        ComputedFields: never
        Insert: {
          act?: number
          alert_id?: string | null
          attempts?: number
          blindness_id?: string | null
          channel_id: string
          created_at?: string
          delivered_at?: string | null
          digest_id?: string | null
          due_at?: string
          expires_at?: string | null
          first_attempt_at?: string | null
          id?: string
          last_error?: string | null
          next_attempt_at?: string | null
          payload?: string | null
          redelivery_of?: string | null
          remote_ref?: string | null
          sequence?: number
          status?: string
          step?: Json | null
          trace?: string | null
          trouble_id?: string | null
          turn_at?: string | null
          type: string
          updated_at?: string
        }
        Update: {
          act?: number
          alert_id?: string | null
          attempts?: number
          blindness_id?: string | null
          channel_id?: string
          created_at?: string
          delivered_at?: string | null
          digest_id?: string | null
          due_at?: string
          expires_at?: string | null
          first_attempt_at?: string | null
          id?: string
          last_error?: string | null
          next_attempt_at?: string | null
          payload?: string | null
          redelivery_of?: string | null
          remote_ref?: string | null
          sequence?: number
          status?: string
          step?: Json | null
          trace?: string | null
          trouble_id?: string | null
          turn_at?: string | null
          type?: string
          updated_at?: string
        }
        Relationships: [
          {
            foreignKeyName: 'deliveries_alert_id_fkey'
            columns: ['alert_id']
            isOneToOne: false
            referencedRelation: 'alerts'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'deliveries_blindness_id_fkey'
            columns: ['blindness_id']
            isOneToOne: false
            referencedRelation: 'blindness'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'deliveries_channel_id_fkey'
            columns: ['channel_id']
            isOneToOne: false
            referencedRelation: 'channels'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'deliveries_digest_id_fkey'
            columns: ['digest_id']
            isOneToOne: false
            referencedRelation: 'deliveries'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'deliveries_redelivery_of_fkey'
            columns: ['redelivery_of']
            isOneToOne: false
            referencedRelation: 'deliveries'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'deliveries_trouble_id_fkey'
            columns: ['trouble_id']
            isOneToOne: false
            referencedRelation: 'channel_troubles'
            referencedColumns: ['id']
          },
        ]
      }
      delivery_attempts: {
        Row: {
          at: string
          attempt: number
          delivery_id: string
          duration_ms: number
          error: string | null
          id: string
          outcome: string
          request_id: string | null
          response_excerpt: string | null
          status_code: number | null
        }
        ComputedFields: never
        Insert: {
          at?: string
          attempt: number
          delivery_id: string
          duration_ms: number
          error?: string | null
          id?: string
          outcome: string
          request_id?: string | null
          response_excerpt?: string | null
          status_code?: number | null
        }
        Update: {
          at?: string
          attempt?: number
          delivery_id?: string
          duration_ms?: number
          error?: string | null
          id?: string
          outcome?: string
          request_id?: string | null
          response_excerpt?: string | null
          status_code?: number | null
        }
        Relationships: [
          {
            foreignKeyName: 'delivery_attempts_delivery_id_fkey'
            columns: ['delivery_id']
            isOneToOne: false
            referencedRelation: 'deliveries'
            referencedColumns: ['id']
          },
        ]
      }
      drills: {
        Row: {
          channels: NonNullable<Json>
          created_at: string
          created_by: string | null
          decided_at: string | null
          decision: Json | null
          escalates: boolean
          escalation: Json | null
          event: NonNullable<Json>
          id: string
          ignores_quiet_hours: boolean
          zone_id: string
        }
        ComputedFields: never
        Insert: {
          channels?: NonNullable<Json>
          created_at?: string
          created_by?: string | null
          decided_at?: string | null
          decision?: Json | null
          escalates: boolean
          escalation?: Json | null
          event: NonNullable<Json>
          id?: string
          ignores_quiet_hours: boolean
          zone_id: string
        }
        Update: {
          channels?: NonNullable<Json>
          created_at?: string
          created_by?: string | null
          decided_at?: string | null
          decision?: Json | null
          escalates?: boolean
          escalation?: Json | null
          event?: NonNullable<Json>
          id?: string
          ignores_quiet_hours?: boolean
          zone_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'drills_created_by_fkey'
            columns: ['created_by']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
          {
            foreignKeyName: 'drills_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      erased_accounts: {
        Row: {
          at: string
          user_id: string
        }
        ComputedFields: never
        Insert: {
          at?: string
          user_id: string
        }
        Update: {
          at?: string
          user_id?: string
        }
        Relationships: []
      }
      event_aliases: {
        Row: {
          alias: string
          event_id: string
        }
        ComputedFields: never
        Insert: {
          alias: string
          event_id: string
        }
        Update: {
          alias?: string
          event_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'event_aliases_event_id_fkey'
            columns: ['event_id']
            isOneToOne: false
            referencedRelation: 'events'
            referencedColumns: ['id']
          },
        ]
      }
      event_revisions: {
        Row: {
          batch_id: string | null
          depth_km: number | null
          ends_at: string | null
          event_id: string
          extent: unknown
          first_seen_at: string
          geometry: Json | null
          lat: number
          lon: number
          magnitude: number | null
          revision: number
          severity: number
          source: string
          status: string
          subject: string | null
          tenant_id: string | null
          title: string
          ts: string
          type: string
          url: string | null
        }
        ComputedFields: never
        Insert: {
          batch_id?: string | null
          depth_km?: number | null
          ends_at?: string | null
          event_id: string
          extent: unknown
          first_seen_at: string
          geometry?: Json | null
          lat: number
          lon: number
          magnitude?: number | null
          revision: number
          severity: number
          source: string
          status: string
          subject?: string | null
          tenant_id?: string | null
          title: string
          ts: string
          type: string
          url?: string | null
        }
        Update: {
          batch_id?: string | null
          depth_km?: number | null
          ends_at?: string | null
          event_id?: string
          extent?: unknown
          first_seen_at?: string
          geometry?: Json | null
          lat?: number
          lon?: number
          magnitude?: number | null
          revision?: number
          severity?: number
          source?: string
          status?: string
          subject?: string | null
          tenant_id?: string | null
          title?: string
          ts?: string
          type?: string
          url?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'event_revisions_batch_id_fkey'
            columns: ['batch_id']
            isOneToOne: false
            referencedRelation: 'batches'
            referencedColumns: ['id']
          },
        ]
      }
      events: {
        Row: {
          changed_in: unknown
          depth_km: number | null
          ends_at: string | null
          extent: unknown
          first_seen_at: string
          geometry: Json | null
          id: string
          lat: number
          lon: number
          magnitude: number | null
          org_id: string | null
          owner_id: string | null
          reported_at: string | null
          revised_at: string | null
          revision: number
          severity: number
          source: string
          status: string
          subject: string | null
          tenant_id: string | null
          title: string
          ts: string
          type: string
          updated_at: string
          url: string | null
        }
        ComputedFields: never
        Insert: {
          changed_in?: unknown
          depth_km?: number | null
          ends_at?: string | null
          extent: unknown
          first_seen_at?: string
          geometry?: Json | null
          id: string
          lat: number
          lon: number
          magnitude?: number | null
          org_id?: string | null
          owner_id?: string | null
          reported_at?: string | null
          revised_at?: string | null
          revision?: number
          severity: number
          source: string
          status: string
          subject?: string | null
          tenant_id?: never
          title: string
          ts: string
          type: string
          updated_at?: string
          url?: string | null
        }
        Update: {
          changed_in?: unknown
          depth_km?: number | null
          ends_at?: string | null
          extent?: unknown
          first_seen_at?: string
          geometry?: Json | null
          id?: string
          lat?: number
          lon?: number
          magnitude?: number | null
          org_id?: string | null
          owner_id?: string | null
          reported_at?: string | null
          revised_at?: string | null
          revision?: number
          severity?: number
          source?: string
          status?: string
          subject?: string | null
          tenant_id?: never
          title?: string
          ts?: string
          type?: string
          updated_at?: string
          url?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'events_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'events_owner_id_fkey'
            columns: ['owner_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      evidence: {
        Row: {
          alert_id: string
          frozen_at: string
          is_settled: boolean
          kid: string | null
          number: number
          read_at: string
          record: string
          signature: string | null
        }
        ComputedFields: never
        Insert: {
          alert_id: string
          frozen_at: string
          is_settled: boolean
          kid?: string | null
          number: number
          read_at: string
          record: string
          signature?: string | null
        }
        Update: {
          alert_id?: string
          frozen_at?: string
          is_settled?: boolean
          kid?: string | null
          number?: number
          read_at?: string
          record?: string
          signature?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'evidence_alert_id_fkey'
            columns: ['alert_id']
            isOneToOne: false
            referencedRelation: 'alerts'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'evidence_kid_fkey'
            columns: ['kid']
            isOneToOne: false
            referencedRelation: 'evidence_keys'
            referencedColumns: ['kid']
          },
        ]
      }
      evidence_due: {
        Row: {
          alert_id: string
          look_at: string
          token: string
        }
        ComputedFields: never
        Insert: {
          alert_id: string
          look_at?: string
          token?: string
        }
        Update: {
          alert_id?: string
          look_at?: string
          token?: string
        }
        Relationships: [
          {
            foreignKeyName: 'evidence_due_alert_id_fkey'
            columns: ['alert_id']
            isOneToOne: true
            referencedRelation: 'alerts'
            referencedColumns: ['id']
          },
        ]
      }
      evidence_keys: {
        Row: {
          created_at: string
          kid: string
          private_sealed: string | null
          public_jwk: NonNullable<Json>
          retired_at: string | null
          withdrawn_at: string | null
          withdrawn_from: string | null
          withdrawn_reason: string | null
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          kid: string
          private_sealed?: string | null
          public_jwk: NonNullable<Json>
          retired_at?: string | null
          withdrawn_at?: string | null
          withdrawn_from?: string | null
          withdrawn_reason?: string | null
        }
        Update: {
          created_at?: string
          kid?: string
          private_sealed?: string | null
          public_jwk?: NonNullable<Json>
          retired_at?: string | null
          withdrawn_at?: string | null
          withdrawn_from?: string | null
          withdrawn_reason?: string | null
        }
        Relationships: []
      }
      feed_links: {
        Row: {
          created_at: string
          id: string
          label: string | null
          owner_id: string
          rotated_at: string | null
          token_hash: string
          zone_id: string
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          id?: string
          label?: string | null
          owner_id?: string
          rotated_at?: string | null
          token_hash: string
          zone_id: string
        }
        Update: {
          created_at?: string
          id?: string
          label?: string | null
          owner_id?: string
          rotated_at?: string | null
          token_hash?: string
          zone_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'feed_links_owner_id_fkey'
            columns: ['owner_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
          {
            foreignKeyName: 'feed_links_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      heartbeat: {
        Row: {
          called_at: string | null
          error: string | null
          is_only: boolean
          looked_at: string | null
          reasons: string[]
        }
        ComputedFields: never
        Insert: {
          called_at?: string | null
          error?: string | null
          is_only?: boolean
          looked_at?: string | null
          reasons?: string[]
        }
        Update: {
          called_at?: string | null
          error?: string | null
          is_only?: boolean
          looked_at?: string | null
          reasons?: string[]
        }
        Relationships: []
      }
      hosts: {
        Row: {
          failures: number
          host: string
          kind: string
          paused_until: string | null
          updated_at: string
        }
        ComputedFields: never
        Insert: {
          failures?: number
          host: string
          kind: string
          paused_until?: string | null
          updated_at?: string
        }
        Update: {
          failures?: number
          host?: string
          kind?: string
          paused_until?: string | null
          updated_at?: string
        }
        Relationships: []
      }
      idempotency_keys: {
        Row: {
          created_at: string
          key: string
          request_hash: string
          resource_id: string
          route: string
          status: number
          user_id: string
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          key: string
          request_hash: string
          resource_id: string
          route: string
          status: number
          user_id: string
        }
        Update: {
          created_at?: string
          key?: string
          request_hash?: string
          resource_id?: string
          route?: string
          status?: number
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'idempotency_keys_user_id_fkey'
            columns: ['user_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      issuer_keys: {
        Row: {
          created_at: string
          kid: string
          private_sealed: string
          public_jwk: NonNullable<Json>
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          kid: string
          private_sealed: string
          public_jwk: NonNullable<Json>
        }
        Update: {
          created_at?: string
          kid?: string
          private_sealed?: string
          public_jwk?: NonNullable<Json>
        }
        Relationships: []
      }
      key_usage: {
        Row: {
          key_id: string
          last_used_at: string
        }
        ComputedFields: never
        Insert: {
          key_id: string
          last_used_at: string
        }
        Update: {
          key_id?: string
          last_used_at?: string
        }
        Relationships: [
          {
            foreignKeyName: 'key_usage_key_id_fkey'
            columns: ['key_id']
            isOneToOne: true
            referencedRelation: 'api_keys'
            referencedColumns: ['id']
          },
        ]
      }
      mainshocks: {
        Row: {
          counts: boolean
          event_id: string
          first_seen_at: string
          lat: number
          lon: number
          magnitude: number
          ts: string
        }
        ComputedFields: never
        Insert: {
          counts: boolean
          event_id: string
          first_seen_at: string
          lat: number
          lon: number
          magnitude: number
          ts: string
        }
        Update: {
          counts?: boolean
          event_id?: string
          first_seen_at?: string
          lat?: number
          lon?: number
          magnitude?: number
          ts?: string
        }
        Relationships: []
      }
      match_memory: {
        Row: {
          key: string
          memory: NonNullable<Json>
          seen_at: string | null
          updated_at: string
          zone_id: string
        }
        ComputedFields: never
        Insert: {
          key: string
          memory: NonNullable<Json>
          seen_at?: string | null
          updated_at?: string
          zone_id: string
        }
        Update: {
          key?: string
          memory?: NonNullable<Json>
          seen_at?: string | null
          updated_at?: string
          zone_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'match_memory_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      members: {
        Row: {
          created_at: string
          email: string
          id: string
          invite_expires_at: string | null
          invite_hash: string | null
          invited_by: string | null
          joined_at: string | null
          org_id: string
          role: string
          status: string
          user_id: string | null
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          email: string
          id?: string
          invite_expires_at?: string | null
          invite_hash?: string | null
          invited_by?: string | null
          joined_at?: string | null
          org_id: string
          role: string
          status?: string
          user_id?: string | null
        }
        Update: {
          created_at?: string
          email?: string
          id?: string
          invite_expires_at?: string | null
          invite_hash?: string | null
          invited_by?: string | null
          joined_at?: string | null
          org_id?: string
          role?: string
          status?: string
          user_id?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'members_invited_by_fkey'
            columns: ['invited_by']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
          {
            foreignKeyName: 'members_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'members_user_id_fkey'
            columns: ['user_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      operator_acts: {
        Row: {
          action: string
          at: string
          details: NonNullable<Json>
          id: string
          operator: string
          target_id: string | null
          target_type: string
          via: string
        }
        ComputedFields: never
        Insert: {
          action: string
          at?: string
          details?: NonNullable<Json>
          id?: string
          operator: string
          target_id?: string | null
          target_type: string
          via: string
        }
        Update: {
          action?: string
          at?: string
          details?: NonNullable<Json>
          id?: string
          operator?: string
          target_id?: string | null
          target_type?: string
          via?: string
        }
        Relationships: []
      }
      operator_sessions: {
        Row: {
          created_at: string
          expires_at: string
          id: string
          link_hash: string | null
          operator: string
          session_hash: string | null
          used_at: string
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          expires_at: string
          id?: string
          link_hash?: string | null
          operator: string
          session_hash?: string | null
          used_at?: string
        }
        Update: {
          created_at?: string
          expires_at?: string
          id?: string
          link_hash?: string | null
          operator?: string
          session_hash?: string | null
          used_at?: string
        }
        Relationships: []
      }
      organisations: {
        Row: {
          created_at: string
          id: string
          name: string
          updated_at: string
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          id?: string
          name: string
          updated_at?: string
        }
        Update: {
          created_at?: string
          id?: string
          name?: string
          updated_at?: string
        }
        Relationships: []
      }
      passing_positions: {
        Row: {
          batch_id: string
          event_id: string
          extent: unknown
          first_seen_at: string
          lat: number
          lon: number
          severity: number
          source: string
          status: string
          subject: string
          tenant_id: string | null
          title: string
          ts: string
          type: string
          url: string | null
        }
        ComputedFields: never
        Insert: {
          batch_id: string
          event_id: string
          extent: unknown
          first_seen_at: string
          lat: number
          lon: number
          severity: number
          source: string
          status: string
          subject: string
          tenant_id?: string | null
          title: string
          ts: string
          type: string
          url?: string | null
        }
        Update: {
          batch_id?: string
          event_id?: string
          extent?: unknown
          first_seen_at?: string
          lat?: number
          lon?: number
          severity?: number
          source?: string
          status?: string
          subject?: string
          tenant_id?: string | null
          title?: string
          ts?: string
          type?: string
          url?: string | null
        }
        Relationships: []
      }
      positions: {
        Row: {
          batch_id: string | null
          event_id: string
          extent: unknown
          first_seen_at: string
          flag: string | null
          is_sample: boolean
          lat: number
          lon: number
          severity: number
          source: string
          status: string
          subject: string
          tenant_id: string | null
          title: string
          ts: string
          type: string
          url: string | null
        }
        ComputedFields: never
        Insert: {
          batch_id?: string | null
          event_id: string
          extent: unknown
          first_seen_at: string
          flag?: string | null
          is_sample?: boolean
          lat: number
          lon: number
          severity: number
          source: string
          status: string
          subject: string
          tenant_id?: string | null
          title: string
          ts: string
          type: string
          url?: string | null
        }
        Update: {
          batch_id?: string | null
          event_id?: string
          extent?: unknown
          first_seen_at?: string
          flag?: string | null
          is_sample?: boolean
          lat?: number
          lon?: number
          severity?: number
          source?: string
          status?: string
          subject?: string
          tenant_id?: string | null
          title?: string
          ts?: string
          type?: string
          url?: string | null
        }
        Relationships: []
      }
      positions_default: {
        Row: {
          batch_id: string | null
          event_id: string
          extent: unknown
          first_seen_at: string
          flag: string | null
          is_sample: boolean
          lat: number
          lon: number
          severity: number
          source: string
          status: string
          subject: string
          tenant_id: string | null
          title: string
          ts: string
          type: string
          url: string | null
        }
        ComputedFields: never
        Insert: {
          batch_id?: string | null
          event_id: string
          extent: unknown
          first_seen_at: string
          flag?: string | null
          is_sample?: boolean
          lat: number
          lon: number
          severity: number
          source: string
          status: string
          subject: string
          tenant_id?: string | null
          title: string
          ts: string
          type: string
          url?: string | null
        }
        Update: {
          batch_id?: string | null
          event_id?: string
          extent?: unknown
          first_seen_at?: string
          flag?: string | null
          is_sample?: boolean
          lat?: number
          lon?: number
          severity?: number
          source?: string
          status?: string
          subject?: string
          tenant_id?: string | null
          title?: string
          ts?: string
          type?: string
          url?: string | null
        }
        Relationships: []
      }
      rate_denials: {
        Row: {
          at: string
          request_id: string
        }
        ComputedFields: never
        Insert: {
          at?: string
          request_id: string
        }
        Update: {
          at?: string
          request_id?: string
        }
        Relationships: []
      }
      rate_limits: {
        Row: {
          bucket: string
          denied: boolean
          tat: string
        }
        ComputedFields: never
        Insert: {
          bucket: string
          denied?: boolean
          tat: string
        }
        Update: {
          bucket?: string
          denied?: boolean
          tat?: string
        }
        Relationships: []
      }
      refresh_tokens: {
        Row: {
          created_at: string
          session_id: string
          token_hash: string
          used_at: string | null
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          session_id: string
          token_hash: string
          used_at?: string | null
        }
        Update: {
          created_at?: string
          session_id?: string
          token_hash?: string
          used_at?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'refresh_tokens_session_id_fkey'
            columns: ['session_id']
            isOneToOne: false
            referencedRelation: 'sessions'
            referencedColumns: ['id']
          },
        ]
      }
      retention: {
        Row: {
          keep: string
          thing: string
          updated_at: string
        }
        ComputedFields: never
        Insert: {
          keep: string
          thing: string
          updated_at?: string
        }
        Update: {
          keep?: string
          thing?: string
          updated_at?: string
        }
        Relationships: []
      }
      sessions: {
        Row: {
          created_at: string
          ended_at: string | null
          id: string
          refreshed_at: string
          user_id: string
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          ended_at?: string | null
          id?: string
          refreshed_at?: string
          user_id: string
        }
        Update: {
          created_at?: string
          ended_at?: string | null
          id?: string
          refreshed_at?: string
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'sessions_user_id_fkey'
            columns: ['user_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      sign_in_links: {
        Row: {
          created_at: string
          expires_at: string
          token_hash: string
          user_id: string
        }
        ComputedFields: never
        Insert: {
          created_at?: string
          expires_at: string
          token_hash: string
          user_id: string
        }
        Update: {
          created_at?: string
          expires_at?: string
          token_hash?: string
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'sign_in_links_user_id_fkey'
            columns: ['user_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
      source_hours: {
        Row: {
          hour: string
          items: number
          reason: string | null
          rejected: number
          source: string
        }
        ComputedFields: never
        Insert: {
          hour: string
          items: number
          reason?: string | null
          rejected: number
          source: string
        }
        Update: {
          hour?: string
          items?: number
          reason?: string | null
          rejected?: number
          source?: string
        }
        Relationships: [
          {
            foreignKeyName: 'source_hours_source_fkey'
            columns: ['source']
            isOneToOne: false
            referencedRelation: 'sources'
            referencedColumns: ['source']
          },
        ]
      }
      sources: {
        Row: {
          attribution: string
          ceilings: NonNullable<Json>
          created_at: string
          delivery_p50: number | null
          delivery_p95: number | null
          enabled: boolean
          error: string | null
          error_at: string | null
          error_code: string | null
          garbled_items: number
          garbled_polls: number
          interval_seconds: number
          last_event_at: string | null
          last_success_at: string | null
          longest_silence_seconds: number | null
          next_poll_at: string
          paused_at: string | null
          paused_reason: string | null
          region: unknown[] | null
          source: string
          stand_ins: NonNullable<Json>
          state: NonNullable<Json>
          stream_holder: string | null
          stream_until: string | null
          title: string
          types: string[]
          updated_at: string
          usual_accepted: number | null
        }
        ComputedFields: never
        Insert: {
          attribution: string
          ceilings?: NonNullable<Json>
          created_at?: string
          delivery_p50?: number | null
          delivery_p95?: number | null
          enabled?: boolean
          error?: string | null
          error_at?: string | null
          error_code?: string | null
          garbled_items?: number
          garbled_polls?: number
          interval_seconds: number
          last_event_at?: string | null
          last_success_at?: string | null
          longest_silence_seconds?: number | null
          next_poll_at?: string
          paused_at?: string | null
          paused_reason?: string | null
          region?: unknown[] | null
          source: string
          stand_ins?: NonNullable<Json>
          state?: NonNullable<Json>
          stream_holder?: string | null
          stream_until?: string | null
          title: string
          types: string[]
          updated_at?: string
          usual_accepted?: number | null
        }
        Update: {
          attribution?: string
          ceilings?: NonNullable<Json>
          created_at?: string
          delivery_p50?: number | null
          delivery_p95?: number | null
          enabled?: boolean
          error?: string | null
          error_at?: string | null
          error_code?: string | null
          garbled_items?: number
          garbled_polls?: number
          interval_seconds?: number
          last_event_at?: string | null
          last_success_at?: string | null
          longest_silence_seconds?: number | null
          next_poll_at?: string
          paused_at?: string | null
          paused_reason?: string | null
          region?: unknown[] | null
          source?: string
          stand_ins?: NonNullable<Json>
          state?: NonNullable<Json>
          stream_holder?: string | null
          stream_until?: string | null
          title?: string
          types?: string[]
          updated_at?: string
          usual_accepted?: number | null
        }
        Relationships: []
      }
      subjects: {
        Row: {
          event_id: string
          lat: number
          lon: number
          sampled_at: string
          sampled_lat: number
          sampled_lon: number
          severity: number
          source: string
          subject: string
          tenant_id: string
          ts: string
        }
        ComputedFields: never
        Insert: {
          event_id: string
          lat: number
          lon: number
          sampled_at: string
          sampled_lat: number
          sampled_lon: number
          severity: number
          source: string
          subject: string
          tenant_id: string
          ts: string
        }
        Update: {
          event_id?: string
          lat?: number
          lon?: number
          sampled_at?: string
          sampled_lat?: number
          sampled_lon?: number
          severity?: number
          source?: string
          subject?: string
          tenant_id?: string
          ts?: string
        }
        Relationships: []
      }
      visibility_changes: {
        Row: {
          at: string
          audience: string
          changed_in: unknown
          id: string
          thing: string
        }
        ComputedFields: never
        Insert: {
          at?: string
          audience: string
          changed_in?: unknown
          id: string
          thing: string
        }
        Update: {
          at?: string
          audience?: string
          changed_in?: unknown
          id?: string
          thing?: string
        }
        Relationships: []
      }
      zone_boxes: {
        Row: {
          box: unknown
          min_severity: number
          part: number
          sources: string[] | null
          types: string[] | null
          zone_id: string
        }
        ComputedFields: never
        Insert: {
          box: unknown
          min_severity: number
          part: number
          sources?: string[] | null
          types?: string[] | null
          zone_id: string
        }
        Update: {
          box?: unknown
          min_severity?: number
          part?: number
          sources?: string[] | null
          types?: string[] | null
          zone_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'zone_boxes_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      zone_changes: {
        Row: {
          at: string
          changed_in: unknown
          zone_id: string
        }
        ComputedFields: never
        Insert: {
          at?: string
          changed_in?: unknown
          zone_id: string
        }
        Update: {
          at?: string
          changed_in?: unknown
          zone_id?: string
        }
        Relationships: []
      }
      zone_shapes: {
        Row: {
          bytes: number
          hash: string
          polygon: NonNullable<Json>
          zone_id: string
        }
        ComputedFields: never
        Insert: {
          bytes: number
          hash: string
          polygon: NonNullable<Json>
          zone_id: string
        }
        Update: {
          bytes?: number
          hash?: string
          polygon?: NonNullable<Json>
          zone_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'zone_shapes_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
        ]
      }
      zone_versions: {
        Row: {
          actor_id: string | null
          changes: NonNullable<Json>
          definition: NonNullable<Json>
          ended_at: string | null
          shape_hash: string | null
          valid_from: string
          version: number
          zone_id: string
        }
        ComputedFields: never
        Insert: {
          actor_id?: string | null
          changes?: NonNullable<Json>
          definition: NonNullable<Json>
          ended_at?: string | null
          shape_hash?: string | null
          valid_from?: string
          version: number
          zone_id: string
        }
        Update: {
          actor_id?: string | null
          changes?: NonNullable<Json>
          definition?: NonNullable<Json>
          ended_at?: string | null
          shape_hash?: string | null
          valid_from?: string
          version?: number
          zone_id?: string
        }
        Relationships: [
          {
            foreignKeyName: 'zone_versions_zone_id_fkey'
            columns: ['zone_id']
            isOneToOne: false
            referencedRelation: 'zones'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'zone_versions_zone_id_shape_hash_fkey'
            columns: ['zone_id', 'shape_hash']
            isOneToOne: false
            referencedRelation: 'zone_shapes'
            referencedColumns: ['zone_id', 'hash']
          },
        ]
      }
      zones: {
        Row: {
          aftershocks: Json | null
          boxes: unknown[]
          channel_ids: string[] | null
          color: string | null
          created_at: string
          deleted_at: string | null
          dwell_minutes: number
          emergency_severity: number | null
          enabled: boolean
          escalation: Json | null
          external_id: string | null
          icon: string | null
          id: string
          label: string
          lat: number
          lon: number
          match: string
          max_alerts_per_hour: number | null
          min_severity: number
          org_id: string | null
          owner_id: string
          polygon: Json | null
          quiet_hours_end: string | null
          quiet_hours_start: string | null
          quiet_hours_tz: string
          quiet_mode: string
          quiet_windows: Json | null
          radius_km: number
          severity_multiplier: number
          shape_type: string
          snoozed_until: string | null
          sources: string[] | null
          tenant_id: string | null
          types: string[] | null
          updated_at: string
          version: number
        }
        ComputedFields: never
        Insert: {
          aftershocks?: Json | null
          boxes: unknown[]
          channel_ids?: string[] | null
          color?: string | null
          created_at?: string
          deleted_at?: string | null
          dwell_minutes?: number
          emergency_severity?: number | null
          enabled?: boolean
          escalation?: Json | null
          external_id?: string | null
          icon?: string | null
          id?: string
          label: string
          lat: number
          lon: number
          match?: string
          max_alerts_per_hour?: number | null
          min_severity?: number
          org_id?: string | null
          owner_id?: string
          polygon?: Json | null
          quiet_hours_end?: string | null
          quiet_hours_start?: string | null
          quiet_hours_tz?: string
          quiet_mode?: string
          quiet_windows?: Json | null
          radius_km?: number
          severity_multiplier?: number
          shape_type?: string
          snoozed_until?: string | null
          sources?: string[] | null
          tenant_id?: never
          types?: string[] | null
          updated_at?: string
          version?: number
        }
        Update: {
          aftershocks?: Json | null
          boxes?: unknown[]
          channel_ids?: string[] | null
          color?: string | null
          created_at?: string
          deleted_at?: string | null
          dwell_minutes?: number
          emergency_severity?: number | null
          enabled?: boolean
          escalation?: Json | null
          external_id?: string | null
          icon?: string | null
          id?: string
          label?: string
          lat?: number
          lon?: number
          match?: string
          max_alerts_per_hour?: number | null
          min_severity?: number
          org_id?: string | null
          owner_id?: string
          polygon?: Json | null
          quiet_hours_end?: string | null
          quiet_hours_start?: string | null
          quiet_hours_tz?: string
          quiet_mode?: string
          quiet_windows?: Json | null
          radius_km?: number
          severity_multiplier?: number
          shape_type?: string
          snoozed_until?: string | null
          sources?: string[] | null
          tenant_id?: never
          types?: string[] | null
          updated_at?: string
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: 'zones_org_id_fkey'
            columns: ['org_id']
            isOneToOne: false
            referencedRelation: 'organisations'
            referencedColumns: ['id']
          },
          {
            foreignKeyName: 'zones_owner_id_fkey'
            columns: ['owner_id']
            isOneToOne: false
            referencedRelation: 'accounts'
            referencedColumns: ['user_id']
          },
        ]
      }
    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      [_ in never]: never
    }
    Enums: {
      [_ in never]: never
    }
    CompositeTypes: {
      [_ in never]: never
    }
  }
}

type DatabaseWithoutInternals = Omit<Database, '__InternalSupabase'>

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, 'support'>]

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema['Tables'] & DefaultSchema['Views'])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables'] &
        DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Views'])
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables'] &
      DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Views'])[TableName] extends {
      Row: infer R
    }
    ? R
    : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema['Tables'] & DefaultSchema['Views'])
    ? (DefaultSchema['Tables'] & DefaultSchema['Views'])[DefaultSchemaTableNameOrOptions] extends {
        Row: infer R
      }
      ? R
      : never
    : never

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema['Tables']
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables'][TableName] extends {
      Insert: infer I
    }
    ? I
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema['Tables']
    ? DefaultSchema['Tables'][DefaultSchemaTableNameOrOptions] extends {
        Insert: infer I
      }
      ? I
      : never
    : never

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema['Tables']
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables'][TableName] extends {
      Update: infer U
    }
    ? U
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema['Tables']
    ? DefaultSchema['Tables'][DefaultSchemaTableNameOrOptions] extends {
        Update: infer U
      }
      ? U
      : never
    : never

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema['Enums']
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions['schema']]['Enums']
    : never = never,
> = DefaultSchemaEnumNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions['schema']]['Enums'][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema['Enums']
    ? DefaultSchema['Enums'][DefaultSchemaEnumNameOrOptions]
    : never

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema['CompositeTypes']
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions['schema']]['CompositeTypes']
    : never = never,
> = PublicCompositeTypeNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions['schema']]['CompositeTypes'][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema['CompositeTypes']
    ? DefaultSchema['CompositeTypes'][PublicCompositeTypeNameOrOptions]
    : never

export const Constants = {
  support: {
    Enums: {},
  },
  watchpost: {
    Enums: {},
  },
} as const
