package io.github.pulsarspark.storage.bookkeeper.protocol

import scala.util.control.NoStackTrace

/** A bookie does not return an entry that it should have; another one may.
  *
  * @param isSlow
  *   it kept us waiting or cannot be reached, and would do so to others
  */
private[protocol] sealed class ReplicaFailed(why: String, val isSlow: Boolean) extends RuntimeException(why)
    with NoStackTrace

/** Reports that an established connection ended before its responses arrived: the bookie restarts, refuses a request,
  * or closes an idle connection. A new connection may work.
  */
private[protocol] final class ConnectionEnded(why: String) extends ReplicaFailed(why, isSlow = true)
