// Divides the calls of one credential among those who share it: which may be sent now, which wait, and which a refused key ends.

import { removeItem } from '../../lib/lists.ts';
import { isOfPerson, type Outcome } from '../calls.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';
import { errorOf, isUpstreamError, type UpstreamError } from '../errors.ts';
import { FairQueue } from '../policies/fair-queue.ts';

/** Waiting calls of a tenant's servers at most. With ten in flight that take 100 ms each, the last one waits for a second. */
const MAX_OF_SERVERS = 100;

/** Waiting calls of all people of a tenant at most. One of them can have half, so that an operation of 50 calls finds room beside others. */
const MAX_OF_PEOPLE = 200;

/** Time for which the service counts as having accepted a credential, in milliseconds. */
const ACCEPTED_MS = 60_000;

/** Time for which a refused credential is not sent again, in milliseconds. A key that was just created works after it. */
const REFUSED_MS = 1_000;

/** Call as its lane sees it. */
export interface LaneCall {
  readonly credential: string;
  readonly key: string | undefined;
  /** Caller whose share it takes. */
  callerId: string;
  /** Called when it gets a slot that another call has left. */
  proceed(): void;
}

/** Whether the service refuses only unknown keys. Some keys must not send some writes, and modules know more endpoints. */
const isForAllKeys = ({ method, isShipped }: DeclaredEndpoint): boolean => method === 'GET' && isShipped;

type CallOf = Pick<LaneCall, 'credential' | 'callerId'>;

/**
 * Calls of one credential to a service. A call uses its lane to the end, so that a read after a write can't join one from before it.
 *
 * Servers have the credential itself, and use all slots. People, who only have a token, share it: each has at most as many calls in flight as slots are
 * free, and at most as many waiting as there is room. So one person has half, and whatever many people do, there is a slot for the next one.
 */
export class Lane<Call extends LaneCall = LaneCall> {
  /** Time until which the service counts as having accepted the credential, as in `performance.now()`. */
  acceptedUntil = 0;
  /** Whether the last response shows that the service knows the credential. Clients can invent keys, so until then there is one call at a time. */
  isKnown = false;
  readonly #slots: number;
  readonly #now: () => number;
  readonly #waiting = new FairQueue<Call>();
  readonly #reads: Call[] = [];
  readonly #running: Call[] = [];
  #refusal: { message: string; of: DeclaredEndpoint; until: number } | undefined;

  /** @param now monotonic clock, in milliseconds */
  constructor(slots: number, now: () => number) {
    this.#slots = slots;
    this.#now = now;
  }

  /** Takes a slot for a call, or lets it wait for one. Returns `full` if too many wait. */
  take(call: Call): 'running' | 'waiting' | 'full' {
    if (this.#mayRun(call)) {
      this.#running.push(call);
      return 'running';
    }
    const own = this.#waiting.itemsOf(call.callerId).length;
    const ofServers = this.#waiting.itemsOf(call.credential).length;
    const room = isOfPerson(call) ? MAX_OF_PEOPLE - (this.#waiting.size - ofServers) : MAX_OF_SERVERS;
    if (own >= room) {
      return 'full';
    }
    this.#waiting.add(call.callerId, call);
    return 'waiting';
  }

  /** Hands the slot of a call over to those that wait. */
  release(call: Call): void {
    removeItem(this.#running, call);
    this.#serve();
  }

  abandon(call: Call): void {
    this.#waiting.remove(call.callerId, call);
  }

  /** Lets a waiting call take the turn of a caller who joins it, if that comes sooner. */
  hasten(call: Call, callerId: string): void {
    const before = this.#waiting.itemsOf(call.callerId).indexOf(call);
    const { credential } = call;
    if (this.#waiting.itemsOf(callerId).length < before || (before >= 0 && this.#mayRun({ credential, callerId }))) {
      this.#waiting.remove(call.callerId, call);
      call.callerId = callerId;
      this.#waiting.add(callerId, call);
      this.#serve();
    }
  }

  find(key: string): Call | undefined {
    return this.#reads.find((call) => call.key === key);
  }

  share(call: Call): void {
    this.#reads.push(call);
  }

  stopSharing(call: Call): void {
    removeItem(this.#reads, call);
  }

  /** Called when a write starts and when it has ended. Later reads don't join the reads so far. */
  separateReads(): void {
    this.#reads.length = 0;
  }

  /** Whether a call is of a credential that clients could have invented. Those of people have the configured one of their tenant. */
  mayBeInvented(call: CallOf): boolean {
    return !(this.isKnown || isOfPerson(call));
  }

  /** Notes what the outcome of an attempt of a call shows about the credential. */
  learn(call: CallOf, endpoint: DeclaredEndpoint, outcome: Outcome): void {
    if (!isUpstreamError(outcome)) {
      if (endpoint.isShipped) {
        this.acceptedUntil = performance.now() + ACCEPTED_MS; // The endpoint of a user's module may answer anybody.
      }
      this.#becomeKnown();
    } else if (outcome.status === 401) {
      if (this.isKnown && isOfPerson(call) && !isForAllKeys(endpoint)) {
        return; // Otherwise, a person could repeat it to slow the servers down.
      }
      this.acceptedUntil = 0;
      if (!this.isKnown && outcome.code === 'UNAUTHENTICATED') {
        this.#refusal = { message: outcome.message, of: endpoint, until: this.#now() + REFUSED_MS };
      }
      this.isKnown = false; // One refusal could be that of a single sick instance: only the next one counts.
    } else if (outcome.code === 'NOT_FOUND' || outcome.code === 'CONFLICT') {
      this.#becomeKnown(); // The service looks for records of the key's environment.
    }
  }

  /** Returns the error of a call whose credential was refused a moment ago. */
  refusal(endpoint: DeclaredEndpoint): UpstreamError | undefined {
    if (this.#refusal === undefined) {
      return undefined; // Usual, and reading the time takes longer.
    }
    const { message, of, until } = this.#refusal;
    const isRefused = this.#now() < until && (of === endpoint || isForAllKeys(of));
    return isRefused ? errorOf('keyRefused', endpoint, { status: 401, message, sent: false }) : undefined;
  }

  #becomeKnown(): void {
    this.#refusal = undefined;
    if (!this.isKnown) {
      this.isKnown = true;
      this.#serve();
    }
  }

  #mayRun(call: CallOf): boolean {
    const free = this.#slots - this.#running.length;
    if (this.mayBeInvented(call)) {
      return free > 0 && !this.#running.some((other) => this.mayBeInvented(other));
    }
    const own = isOfPerson(call) ? this.#running.filter(({ callerId }) => callerId === call.callerId).length : 0;
    return own < free;
  }

  /** Hands free slots over to waiting calls, the next of each caller in turn. One that ends at once calls it again: as deep as calls wait, 300 at most. */
  #serve(): void {
    if (this.#waiting.size === 0) {
      return; // Usual, and asking for the next one takes longer.
    }
    const mayRun = (call: Call) => this.#mayRun(call);
    for (let next = this.#waiting.next(mayRun); next !== undefined; next = this.#waiting.next(mayRun)) {
      this.#running.push(next);
      next.proceed();
    }
  }
}
