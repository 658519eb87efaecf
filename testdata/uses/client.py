"""A client that says user.mail in its text."""

import grpc

from acme.user.v1 import user_pb2
from acme.user.v1 import user_pb2_grpc
from acme.user.v1.user_pb2 import Address  # uses: Address


class Client:
    def __init__(self, channel):
        self.stub = user_pb2_grpc.UsersStub(channel)  # uses: Users
        self.name = "user.mail"

    def load(self, name) -> user_pb2.User:  # uses: User
        request = user_pb2.GetUserRequest(name=name)  # uses: GetUserRequest, GetUserRequest.name
        user = self.stub.GetUser(request)  # uses: Users.GetUser
        print(user.boss.mail)  # uses: User.boss, User.mail
        return user


def build():
    user = user_pb2.User(  # uses: User
        name="a",  # uses: User.name
        kind=user_pb2.KIND_ADMIN,  # uses: User.kind, KIND_ADMIN
        addresses=[Address(street="b")],  # uses: User.addresses, Address, Address.street
    )
    user.details.text = "c"  # uses: User.details, User.Details.text
    if user.HasField("nick"):  # uses: User.nick
        print(user.WhichOneof("contact"))  # uses: User.contact
    for address in user.addresses:  # uses: User.addresses
        print(address.street)  # uses: Address.street
    user.places["x"].street = "d"  # uses: User.places, Address.street
    return user


def walk(user: user_pb2.User, client):  # uses: User
    print(user.phone, client.name)  # uses: User.phone
    # user.kind is a comment.
    loaded = Client(grpc.insecure_channel("")).load("x")
    print(loaded.mail)  # uses: User.mail
