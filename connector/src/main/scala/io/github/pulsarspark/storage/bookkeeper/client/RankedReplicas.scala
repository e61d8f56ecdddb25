package io.github.pulsarspark.storage.bookkeeper.client

import java.util.{Collections, List => JList, Map => JMap, Optional, Set => JSet}

import io.netty.util.HashedWheelTimer
import org.apache.bookkeeper.client.DistributionSchedule.WriteSet
import org.apache.bookkeeper.client.EnsemblePlacementPolicy.{PlacementPolicyAdherence, PlacementResult}
import org.apache.bookkeeper.client.{BookiesHealthInfo, EnsemblePlacementPolicy}
import org.apache.bookkeeper.conf.ClientConfiguration
import org.apache.bookkeeper.feature.FeatureProvider
import org.apache.bookkeeper.net.{BookieId, DNSToSwitchMapping}
import org.apache.bookkeeper.proto.BookieAddressResolver
import org.apache.bookkeeper.stats.StatsLogger

import io.github.pulsarspark.storage.bookkeeper.bookies.BookieRanks

/** The order in which BookKeeper's client tries replicas: by their bookies' ranks. The slow ones are those in whose
  * place another one responded. Bookies for writing are not chosen, as nothing is written.
  */
private[bookkeeper] final class RankedReplicas(ranks: BookieRanks) extends EnsemblePlacementPolicy {
  import InMemoryMetadataDriver.refuse

  /** BookKeeper makes it by its class. */
  def this() = this(BookieRanks.ofThisJvm)

  override def registerSlowBookie(bookie: BookieId, entryId: Long): Unit = ranks.addSlow(bookie.getId)

  override def reorderReadSequence(
      ensemble: JList[BookieId],
      health: BookiesHealthInfo,
      replicas: WriteSet
  ): WriteSet = {
    def rank(bookie: Int) = ranks(ensemble.get(bookie).getId)
    // seldom true, and checked for each entry of a striped ledger
    if ((1 until replicas.size).exists(i => rank(replicas.get(i)) < rank(replicas.get(i - 1))))
      (0 until replicas.size).map(replicas.get(_)).sortBy(rank).zipWithIndex.foreach { case (bookie, place) =>
        replicas.set(place, bookie)
      }
    replicas
  }

  override def reorderReadLACSequence(
      ensemble: JList[BookieId],
      health: BookiesHealthInfo,
      replicas: WriteSet
  ): WriteSet = refuse()

  override def initialize(
      conf: ClientConfiguration,
      dns: Optional[DNSToSwitchMapping],
      timer: HashedWheelTimer,
      features: FeatureProvider,
      stats: StatsLogger,
      resolver: BookieAddressResolver
  ): EnsemblePlacementPolicy = this

  override def uninitalize(): Unit = ()

  override def onClusterChanged(writable: JSet[BookieId], readOnly: JSet[BookieId]): JSet[BookieId] =
    Collections.emptySet[BookieId]()

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

  override def isEnsembleAdheringToPlacementPolicy(
      ensemble: JList[BookieId],
      writeQuorum: Int,
      ackQuorum: Int
  ): PlacementPolicyAdherence =
    refuse()
}
