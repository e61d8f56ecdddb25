package io.github.pulsarspark.storage.bookkeeper

import java.util.concurrent.TimeUnit
import java.util.{Collections, List => JList, Map => JMap, Optional, Set => JSet}

import scala.collection.concurrent.TrieMap

import io.netty.util.HashedWheelTimer
import org.apache.bookkeeper.client.DistributionSchedule.WriteSet
import org.apache.bookkeeper.client.EnsemblePlacementPolicy.{PlacementPolicyAdherence, PlacementResult}
import org.apache.bookkeeper.client.{BookiesHealthInfo, EnsemblePlacementPolicy}
import org.apache.bookkeeper.conf.ClientConfiguration
import org.apache.bookkeeper.feature.FeatureProvider
import org.apache.bookkeeper.net.{BookieId, DNSToSwitchMapping}
import org.apache.bookkeeper.proto.BookieAddressResolver
import org.apache.bookkeeper.stats.StatsLogger

/** The order in which replicas are asked: a bookie in whose place another one had to answer is asked last for a while, by every task of this JVM. Otherwise each
  * read of a striped ledger, and the first of each task in any other, would wait for it anew. Bookies for writing are not chosen, as nothing is written.
  *
  * BookKeeper makes it by its class.
  */
private[bookkeeper] final class SlowBookiesLast extends EnsemblePlacementPolicy {
  import SlowBookiesLast._
  import ShippedMetadataDriver.refuse

  private val slow = new TrieMap[BookieId, Long]

  override def registerSlowBookie(bookie: BookieId, entryId: Long): Unit = {
    slow.put(bookie, System.nanoTime())
    ()
  }

  override def reorderReadSequence(ensemble: JList[BookieId], health: BookiesHealthInfo, replicas: WriteSet): WriteSet = {
    if (!slow.isEmpty)
      (replicas.size - 1 to 0 by -1).foreach(i => if (isSlow(ensemble.get(replicas.get(i)))) replicas.moveAndShift(i, replicas.size - 1))
    replicas
  }

  private def isSlow(bookie: BookieId): Boolean = slow.get(bookie).exists { since =>
    val is = System.nanoTime() - since < AvoidedNanos
    if (!is) slow.remove(bookie, since)
    is
  }

  override def reorderReadLACSequence(ensemble: JList[BookieId], health: BookiesHealthInfo, replicas: WriteSet): WriteSet = refuse()

  override def initialize(
      conf: ClientConfiguration,
      dns: Optional[DNSToSwitchMapping],
      timer: HashedWheelTimer,
      features: FeatureProvider,
      stats: StatsLogger,
      resolver: BookieAddressResolver
  ): EnsemblePlacementPolicy = this

  override def uninitalize(): Unit = ()

  override def onClusterChanged(writable: JSet[BookieId], readOnly: JSet[BookieId]): JSet[BookieId] = Collections.emptySet[BookieId]()

  override def newEnsemble(
      size: Int,
      writeQuorum: Int,
      ackQuorum: Int,
      metadata: JMap[String, Array[Byte]],
      excluded: JSet[BookieId]
  ): PlacementResult[JList[BookieId]] = refuse()

  override def replaceBookie(
      size: Int,
      writeQuorum: Int,
      ackQuorum: Int,
      metadata: JMap[String, Array[Byte]],
      ensemble: JList[BookieId],
      replaced: BookieId,
      excluded: JSet[BookieId]
  ): PlacementResult[BookieId] = refuse()

  override def isEnsembleAdheringToPlacementPolicy(ensemble: JList[BookieId], writeQuorum: Int, ackQuorum: Int): PlacementPolicyAdherence =
    refuse()
}

private object SlowBookiesLast {
  private val AvoidedNanos = TimeUnit.SECONDS.toNanos(60)
}
