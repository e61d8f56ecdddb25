package io.github.pulsarspark.pulsar.connection

import java.io.IOException
import java.nio.channels.ClosedChannelException
import java.util.concurrent.CompletionException

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite

class LostConnectionSuite extends UnitSuite {

  private val disconnected = new PulsarClientException.ConnectException("Disconnected from server")

  test("a connection is lost by netty's word or by the client's") {
    val lost = Seq(new ClosedChannelException, new IOException("Connection reset by peer"), disconnected)
    val not  = Seq(
      new PulsarClientException("refused"),
      new PulsarClientException.ConnectException(new IOException("Connection refused")),
      new PulsarClientException.TimeoutException("late"),
      new IllegalStateException
    )
    lost.foreach(e => assert(LostConnection.caused(e), e))
    lost.foreach(e => assert(LostConnection.caused(new CompletionException(e)), e))
    not.foreach(e => assert(!LostConnection.caused(e), e))
  }
}
